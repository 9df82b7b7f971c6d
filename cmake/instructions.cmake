# Levels of instructions (docs/decisions/0023-instructions.md): the check that runs before everything else and must run
# on any processor, and the tests of the code compiled for each level.
if(ISOBAR_ARCH MATCHES "^x86-64(-v2)?$")
  message(FATAL_ERROR "ISOBAR_ARCH=${ISOBAR_ARCH}: kernels need AVX2 at least; valid are x86-64-v3 (the default), native, and "
    "what else -march knows from there on")
endif()
set_source_files_properties(${PROJECT_SOURCE_DIR}/isobar/base/processor_check.cpp PROPERTIES
  COMPILE_OPTIONS -march=x86-64 SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
target_link_options(isobar_base INTERFACE LINKER:-u,isobar_check_processor)

if(ISOBAR_TESTS)
  add_executable(lacking tests/base/lacking.cpp isobar/base/processor_check.cpp)
  target_include_directories(lacking PRIVATE ${PROJECT_SOURCE_DIR})
  add_dependencies(test_base lacking)
  target_compile_definitions(test_base PRIVATE ISOBAR_LACKING="$<TARGET_FILE:lacking>")
endif()

# isobar_test_levels(ROOM[:FILTER] ...): runs the tests of these rooms (those whose names match) once more, each room in
# one process, as on a processor without AVX-512. A build that uses AVX-512 throughout has no such level.
function(isobar_test_levels)
  if(NOT ISOBAR_TESTS OR NOT ISOBAR_ARCH STREQUAL x86-64-v3)
    return()
  endif()
  foreach(given ${ARGN})
    string(REGEX MATCH "^([a-z_]+):?(.*)$" ignored ${given})
    set(room ${CMAKE_MATCH_1})
    set(filter ${CMAKE_MATCH_2})
    if(NOT TARGET test_${room})
      continue()  # a missing part
    endif()
    isobar_add_command_test(v3.${room} $<TARGET_FILE:test_${room}> --gtest_brief=1 --gtest_filter=${filter}*)
    set_tests_properties(v3.${room} PROPERTIES ENVIRONMENT ISOBAR_INSTRUCTIONS=v3 TIMEOUT 600 PROCESSORS 2)
  endforeach()
endfunction()
