# What all tests share. CTest gives them a home and a folder for temporary files, in which each test makes its own
# folder (tests/main.cpp, tests/in_own_place); the last test of any run, house.nothing_is_left, fails if a test has
# written outside its own folder or has not removed it.
add_library(isobar_test_main STATIC ${PROJECT_SOURCE_DIR}/tests/main.cpp)
target_include_directories(isobar_test_main PUBLIC ${PROJECT_SOURCE_DIR})
target_compile_definitions(isobar_test_main PUBLIC ISOBAR_SOURCES="${PROJECT_SOURCE_DIR}")
target_link_libraries(isobar_test_main PUBLIC GTest::gtest PRIVATE isobar_flags)
set(isobar_own_place ${PROJECT_SOURCE_DIR}/tests/in_own_place)

string(MD5 place_of_tests ${PROJECT_BINARY_DIR})
string(SUBSTRING ${place_of_tests} 0 8 place_of_tests)
configure_file(${PROJECT_SOURCE_DIR}/tests/place_of_tests.cmake.in ${PROJECT_BINARY_DIR}/place_of_tests.cmake @ONLY)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY TEST_INCLUDE_FILES
  ${PROJECT_BINARY_DIR}/place_of_tests.cmake)

# Runs when all selected tests have ended, even if some have failed.
add_test(NAME house.nothing_is_left COMMAND /usr/bin/python3 -B ${PROJECT_SOURCE_DIR}/tests/house/nothing_is_left.py)
set_tests_properties(house.nothing_is_left PROPERTIES FIXTURES_CLEANUP place_of_tests)

# isobar_add_tests(TARGET PREFIX [properties]): every test of a program that links isobar_test_main.
function(isobar_add_tests target prefix)
  gtest_discover_tests(${target} TEST_PREFIX ${prefix}. DISCOVERY_TIMEOUT 60
    PROPERTIES FIXTURES_REQUIRED place_of_tests ${ARGN})
endfunction()

# isobar_add_command_test(NAME [ONLY_WITH label] COMMAND...): a test that is another program, run in its own folder;
# with a label only by `ctest -C label`.
function(isobar_add_command_test name)
  cmake_parse_arguments(PARSE_ARGV 1 TEST "" "ONLY_WITH" "")
  set(when "")
  if(TEST_ONLY_WITH)
    set(when CONFIGURATIONS ${TEST_ONLY_WITH})
  endif()
  add_test(NAME ${name} ${when} COMMAND ${isobar_own_place} ${TEST_UNPARSED_ARGUMENTS})
  set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED place_of_tests)
endfunction()
