# Installs the build into a fresh prefix; then configures, builds and runs examples/outside against it, and a program
# that links every room. Run with cmake -P and -D build, source, rooms ("base,tensor sim": a program each), generator,
# compiler, launcher, sanitize.
set(place ${build}/outside)
set(prefix ${place}/prefix)
file(REMOVE_RECURSE ${place})

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    string(REPLACE ";" " " command "${ARGV}")
    message(FATAL_ERROR "failed with ${result}: ${command}")
  endif()
endfunction()

function(build_outside project)
  get_filename_component(name ${project} NAME)
  set(flags)
  if(sanitize)
    set(flags -DCMAKE_CXX_FLAGS=-fsanitize=${sanitize})
  endif()
  run(${CMAKE_COMMAND} -S ${source}/${project} -B ${place}/${name} -G ${generator} -DCMAKE_PREFIX_PATH=${prefix}
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=${compiler} -DCMAKE_CXX_COMPILER_LAUNCHER=${launcher}
    ${flags} ${ARGN})
  run(${CMAKE_COMMAND} --build ${place}/${name})
  run(${place}/${name}/${name})
endfunction()

run(${CMAKE_COMMAND} --install ${build} --prefix ${prefix})

# Installed files must not refer to the source tree.
file(GLOB_RECURSE exported ${prefix}/*.cmake)
foreach(file ${exported})
  file(READ ${file} text)
  string(FIND "${text}" "${source}/" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "${file} names the source tree ${source}")
  endif()
endforeach()

build_outside(examples/outside)
separate_arguments(rooms)
foreach(some ${rooms})
  build_outside(tests/house/all_rooms -Drooms=${some})
endforeach()
