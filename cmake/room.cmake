# isobar_units(TARGET [n]): its sources are compiled n at a time (default 10) if ISOBAR_UNITS is on, as in the preset
# release, so that templates and inline functions they share are compiled once. Names in unnamed namespaces must then
# differ within a folder; tools/check_names says where they do not. If files take long to compile, n is small, so that a
# change to one compiles in a few seconds.
function(isobar_units target)
  set(files 10)
  if(ARGC GREATER 1)
    set(files ${ARGV1})
  endif()
  if(ISOBAR_UNITS)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
  endif()
endfunction()

# isobar_quick_tests(TARGET): most of the time of `make test` goes into compiling, so tests are optimised little.
function(isobar_quick_tests target)
  target_compile_options(${target} PRIVATE ${cold})
  isobar_use_headers(${target} tests)
  isobar_units(${target} 6)
endfunction()

# isobar_room(NAME [ROOMS a b] [LIBRARIES x y] [PRIVATE z] [TESTED_WITH c] [HEADERS kind] [COLD] [UNITS n]
# [WHOLE_MACHINE]): one static library per folder of isobar/, linking only the rooms its row of tools/rooms.txt names.
# Sources are all .cpp files of the folder except those of missing parts (cmake/parts.cmake): a new file needs no line
# here. LIBRARIES are those the room's headers use, PRIVATE those only its sources use; HEADERS is the kind of
# precompiled headers (cmake/headers.cmake), a COLD room computes little, and UNITS files are compiled at a time.
# tests/NAME/*_test.cpp become test_NAME, which links the room and the rooms TESTED_WITH names; the tests of a
# WHOLE_MACHINE room run one at a time.
function(isobar_room name)
  cmake_parse_arguments(ROOM "COLD;WHOLE_MACHINE" "HEADERS;UNITS" "ROOMS;LIBRARIES;PRIVATE;TESTED_WITH" ${ARGN})
  if(ROOM_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "isobar_room(${name}): what is '${ROOM_UNPARSED_ARGUMENTS}'?")
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/isobar/${name}/*.cpp)
  foreach(source ${left_out})
    list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/isobar/${source}.cpp)
  endforeach()
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
  if(ROOM_COLD)
    target_compile_options(isobar_${name} PRIVATE ${cold})
    isobar_use_headers(isobar_${name} cold)
  elseif(ROOM_HEADERS)
    isobar_use_headers(isobar_${name} ${ROOM_HEADERS})
  else()
    isobar_use_headers(isobar_${name} engine)
  endif()
  isobar_units(isobar_${name} ${ROOM_UNITS})
  set_property(GLOBAL APPEND PROPERTY ISOBAR_ROOMS ${name})
  install(TARGETS isobar_${name} EXPORT isobar ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

  file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${name}/*_test.cpp)
  if(tests AND ISOBAR_TESTS)
    add_executable(test_${name} ${tests})
    list(TRANSFORM ROOM_TESTED_WITH PREPEND isobar_)
    target_link_libraries(test_${name} PRIVATE isobar_${name} ${ROOM_TESTED_WITH} isobar_flags isobar_test_main)
    isobar_quick_tests(test_${name})
    # Two tests share the cores badly if both compute with many threads.
    set(processors 1)
    if(ROOM_WHOLE_MACHINE)
      set(processors 2)
    endif()
    isobar_add_tests(test_${name} ${name} TIMEOUT 600 PROCESSORS ${processors})
  endif()
endfunction()
