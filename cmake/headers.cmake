# Headers that many sources include are compiled once and shared by all targets of a kind: reading them again in every
# source took most of the time of a build. The preset dev switches this off, to check that every file includes what it
# uses.
#
# isobar_headers(KIND [LIBRARIES x y] [OPTIONS o] HEADERS a b ...) compiles them; isobar_use_headers(TARGET KIND) lets a
# target use them. GCC accepts precompiled headers only with the options they were compiled with, hence the kinds.
function(isobar_headers kind)
  cmake_parse_arguments(KIND "" "" "LIBRARIES;OPTIONS;HEADERS" ${ARGN})
  set(source ${CMAKE_BINARY_DIR}/generated/headers_${kind}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Made by cmake/headers.cmake: what the precompiled headers belong to.\n")
  add_library(isobar_headers_${kind} OBJECT ${source})
  target_compile_features(isobar_headers_${kind} PRIVATE cxx_std_20)
  target_include_directories(isobar_headers_${kind} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(isobar_headers_${kind} PRIVATE ${KIND_LIBRARIES} isobar_flags)
  target_compile_options(isobar_headers_${kind} PRIVATE ${KIND_OPTIONS})
  target_precompile_headers(isobar_headers_${kind} PRIVATE ${KIND_HEADERS})
endfunction()

function(isobar_use_headers target kind)
  target_precompile_headers(${target} REUSE_FROM isobar_headers_${kind})
endfunction()

set(standard_headers <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath> <condition_variable> <cstdint>
  <cstring> <deque> <exception> <filesystem> <fstream> <functional> <limits> <map> <memory> <mutex> <numeric> <optional>
  <set> <span> <sstream> <string> <string_view> <thread> <utility> <variant> <vector>)
set(cold $<$<CONFIG:Release>:-O1>)  # for code that computes little

isobar_headers(plain LIBRARIES fmt::fmt HEADERS ${standard_headers} <fmt/format.h>)
isobar_headers(engine LIBRARIES fmt::fmt DNNL::dnnl HEADERS ${standard_headers} <fmt/format.h> <oneapi/dnnl/dnnl.hpp>)
isobar_headers(cold LIBRARIES fmt::fmt DNNL::dnnl nlohmann_json::nlohmann_json OPTIONS ${cold}
  HEADERS ${standard_headers} <fmt/format.h> <oneapi/dnnl/dnnl.hpp> <nlohmann/json.hpp>)
isobar_headers(verbs LIBRARIES fmt::fmt DNNL::dnnl nlohmann_json::nlohmann_json CLI11::CLI11 OPTIONS ${cold}
  HEADERS ${standard_headers} <fmt/format.h> <oneapi/dnnl/dnnl.hpp> <nlohmann/json.hpp> <CLI/CLI.hpp>)
if(ISOBAR_TESTS)
  isobar_headers(tests LIBRARIES fmt::fmt DNNL::dnnl GTest::gtest OPTIONS ${cold} -fPIE  # as in every executable
    HEADERS ${standard_headers} <fmt/format.h> <oneapi/dnnl/dnnl.hpp> <gtest/gtest.h>)
endif()
