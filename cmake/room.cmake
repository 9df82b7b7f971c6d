# isobar_quick_tests(TARGET): most of the time of `make test` is compiling. Tests are optimised little, at which GCC 12
# sees errors in additions of texts that are none, and what all of them include is read once. The preset dev does without
# the latter, so that every file is seen to include what it uses.
function(isobar_quick_tests target)
  target_compile_options(${target} PRIVATE
    $<$<CONFIG:Release>:-O1 -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>)
  target_precompile_headers(${target} PRIVATE <algorithm> <filesystem> <fstream> <functional> <map> <memory> <optional>
    <span> <string> <vector> <gtest/gtest.h>)
endfunction()

# isobar_room(NAME [ROOMS a b] [LIBRARIES x y] [PRIVATE z] [TESTED_WITH c] [WHOLE_MACHINE]): one static library per
# folder of isobar/, linking only the rooms its row of tools/rooms.txt names. Sources are every .cpp of the folder: a new
# file needs no line here. LIBRARIES are those the room's headers show, PRIVATE those only its sources use.
# tests/NAME/*_test.cpp become test_NAME, which links the room and the rooms TESTED_WITH names; the tests of a
# WHOLE_MACHINE room run one at a time.
function(isobar_room name)
  cmake_parse_arguments(ROOM "WHOLE_MACHINE" "" "ROOMS;LIBRARIES;PRIVATE;TESTED_WITH" ${ARGN})
  if(ROOM_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "isobar_room(${name}): what is '${ROOM_UNPARSED_ARGUMENTS}'?")
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/isobar/${name}/*.cpp)
  if(NOT sources)
    message(STATUS "isobar/${name} is empty: not built")
    return()
  endif()
  add_library(isobar_${name} STATIC ${sources})
  add_library(isobar::${name} ALIAS isobar_${name})
  set_target_properties(isobar_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(isobar_${name} PUBLIC cxx_std_20)
  target_include_directories(isobar_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  list(TRANSFORM ROOM_ROOMS PREPEND isobar_)
  target_link_libraries(isobar_${name} PUBLIC ${ROOM_ROOMS} ${ROOM_LIBRARIES}
    PRIVATE ${ROOM_PRIVATE} $<BUILD_INTERFACE:isobar_flags>)
  set_property(GLOBAL APPEND PROPERTY ISOBAR_ROOMS ${name})
  install(TARGETS isobar_${name} EXPORT isobar ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

  file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${name}/*_test.cpp)
  if(tests AND ISOBAR_TESTS)
    add_executable(test_${name} ${tests})
    list(TRANSFORM ROOM_TESTED_WITH PREPEND isobar_)
    target_link_libraries(test_${name} PRIVATE isobar_${name} ${ROOM_TESTED_WITH} isobar_flags GTest::gtest_main)
    isobar_quick_tests(test_${name})
    # Two tests at a time share the cores badly when both compute with many threads.
    set(processors 1)
    if(ROOM_WHOLE_MACHINE)
      set(processors 2)
    endif()
    gtest_discover_tests(test_${name} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60
      PROPERTIES TIMEOUT 600 PROCESSORS ${processors})
  endif()
endfunction()
