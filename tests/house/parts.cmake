# Configures a build in which parts are missing, checks what CMake's last lines say about them, and compiles the sources
# that this affects. Run with cmake -P and -D name, source, build, without (a list for ISOBAR_WITHOUT), objects (target
# and source: "isobar_files/isobar/files/lmdb_writer_absent"), says (texts that must appear, separated by |), options
# (more for CMake), compiler, launcher.
set(place ${build}/parts/${name})
file(REMOVE_RECURSE ${place})
separate_arguments(objects)
list(TRANSFORM objects REPLACE "^([^/]+)/(.+)$" "CMakeFiles/\\1.dir/\\2.cpp.o")
separate_arguments(options)
# Ninja builds single objects. No precompiled headers: compiling them would take longer than they save here.
execute_process(COMMAND ${CMAKE_COMMAND} -S ${source} -B ${place} -G Ninja -DCMAKE_BUILD_TYPE=Release
  -DCMAKE_CXX_COMPILER=${compiler} -DCMAKE_CXX_COMPILER_LAUNCHER=${launcher} -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
  -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DISOBAR_WITHOUT=${without} ${options}
  OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
message("${output}")
if(NOT result EQUAL 0)
  message(FATAL_ERROR "without ${without}: not configured")
endif()
string(REPLACE "|" ";" says "${says}")
foreach(text ${says})
  string(FIND "${output}" "${text}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "without ${without}: CMake does not say '${text}'")
  endif()
endforeach()
if(objects)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${place} --target ${objects} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "without ${without}: ${objects} cannot be compiled")
  endif()
endif()
file(REMOVE_RECURSE ${place})
