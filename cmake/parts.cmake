# Finds the libraries, and decides which parts are built: a missing library stops the build only if nothing works
# without it. An optional part is a source with another beside it, `x_absent.cpp`, which says in one line what to
# install. CMake prints the list of parts at the end (isobar_tell_parts), and `isobar doctor` shows it.
set(known_parts mpich openmpi mpi simgrid netcdf lmdb onnx fftw kissfft tests)
set(ISOBAR_WITHOUT "" CACHE STRING "Parts to leave out, as if their libraries were missing: lmdb,simgrid,...")
string(REPLACE "," ";" without "${ISOBAR_WITHOUT}")
foreach(part ${without})
  if(NOT part IN_LIST known_parts)
    string(REPLACE ";" ", " known "${known_parts}")
    message(FATAL_ERROR "ISOBAR_WITHOUT=${ISOBAR_WITHOUT}: there is no part '${part}'; valid: ${known}")
  endif()
endforeach()

set(ISOBAR_FFT any CACHE STRING "Who computes Fourier transforms: fftw (GPL), kissfft (BSD), or any (the first that is there)")
set_property(CACHE ISOBAR_FFT PROPERTY STRINGS any fftw kissfft)
if(NOT ISOBAR_FFT MATCHES "^(any|fftw|kissfft)$")
  message(FATAL_ERROR "ISOBAR_FFT=${ISOBAR_FFT}: valid are any, fftw and kissfft")
endif()

# Nothing works without these.
find_package(OpenMP REQUIRED)
find_package(dnnl REQUIRED)
find_package(fmt REQUIRED)
find_package(Threads REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PkgConfig REQUIRED)
set(modules HWLOC:hwloc:libhwloc-dev HDF5:hdf5:libhdf5-dev ARCHIVE:libarchive:libarchive-dev
  DEFLATE:libdeflate:libdeflate-dev JPEG:libjpeg:libjpeg62-turbo-dev PNG:libpng:libpng-dev
  UTF8PROC:libutf8proc:libutf8proc-dev ZLIB:zlib:zlib1g-dev)
set(missing "")
foreach(row ${modules})
  string(REPLACE ":" ";" row ${row})
  list(GET row 0 prefix)
  list(GET row 1 module)
  list(GET row 2 package)
  pkg_check_modules(${prefix} QUIET IMPORTED_TARGET ${module})
  if(${prefix}_FOUND)
    list(APPEND exported_modules ${prefix}:${module})
  else()
    string(APPEND missing "\n  ${module} (on Debian: ${package})")
  endif()
endforeach()
if(missing)
  message(FATAL_ERROR "Isobar needs libraries that pkg-config does not find:${missing}\n"
    "tools/install_packages build installs them on Debian; docs/install.md describes other systems.")
endif()

# isobar_part(NAME FOUND "built" "missing"): a line of the list; `built` says what it is, `missing` what to install.
function(isobar_part name found built missing)
  if(found)
    set(state true)
    set(text "${built}")
  else()
    set(state false)
    set(text "${missing}")
  endif()
  set_property(GLOBAL APPEND PROPERTY ISOBAR_PARTS "${name}|${state}|${text}")
endfunction()

# isobar_find(PREFIX part module): a library that may be missing.
macro(isobar_find prefix part module)
  if("${part}" IN_LIST without)
    set(${prefix}_FOUND FALSE)
  else()
    pkg_check_modules(${prefix} QUIET IMPORTED_TARGET ${module})
  endif()
  if(${prefix}_FOUND)
    list(APPEND exported_modules ${prefix}:${module})
  endif()
endmacro()

# isobar_choose(FOUND "sources" absent LIST target): leaves either the sources or their stand-ins, as "room/name", out
# of the rooms, and adds the target they need to the list. Each is compiled separately, so that programs can be linked
# with either.
macro(isobar_choose found sources absent list target)
  foreach(source ${sources})
    set_source_files_properties(${PROJECT_SOURCE_DIR}/isobar/${source}.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
  if(${found})
    list(APPEND left_out ${absent})
    list(APPEND ${list} ${target})
  else()
    list(APPEND left_out ${sources})
  endif()
endmacro()

include(cmake/mpi_libraries.cmake)

isobar_find(SIMGRID simgrid simgrid)
isobar_part("simulator" "${SIMGRID_FOUND}" "bin/isobar-sim, by SimGrid" "no bin/isobar-sim (libsimgrid-dev brings it)")

isobar_find(NETCDF netcdf netcdf)
isobar_choose(NETCDF_FOUND hdf5/netcdf_writer hdf5/netcdf_writer_absent netcdf_libraries PkgConfig::NETCDF)
isobar_part("NetCDF" "${NETCDF_FOUND}" "read and written" "read, not written (libnetcdf-dev brings it)")

isobar_find(LMDB lmdb lmdb)
isobar_choose(LMDB_FOUND files/lmdb_writer files/lmdb_writer_absent lmdb_libraries PkgConfig::LMDB)
isobar_part("LMDB" "${LMDB_FOUND}" "read and written" "read, not written (liblmdb-dev brings it)")

set(ONNX_AND_PROTOBUF FALSE)
if(NOT onnx IN_LIST without)
  find_package(Protobuf QUIET)
  find_package(ONNX QUIET)
  if(Protobuf_FOUND AND ONNX_FOUND)
    set(ONNX_AND_PROTOBUF TRUE)
    list(APPEND exported_packages Protobuf ONNX)
  endif()
endif()
isobar_choose(ONNX_AND_PROTOBUF "onnx/protobuf_read;onnx/protobuf_write" onnx/protobuf_absent onnx_libraries onnx_proto)
isobar_part("ONNX" ${ONNX_AND_PROTOBUF} "read and written" "neither read nor written (libonnx-dev and libprotobuf-dev bring it)")

isobar_find(FFTW fftw fftw3f)
isobar_find(KISSFFT kissfft kissfft-float)
set(fft absent)
foreach(library fftw kissfft)
  string(TOUPPER ${library} prefix)
  if(fft STREQUAL absent AND ${prefix}_FOUND AND ISOBAR_FFT MATCHES "any|${library}")
    set(fft ${library})
    set(fft_libraries PkgConfig::${prefix})
  endif()
endforeach()
if(fft STREQUAL absent AND NOT ISOBAR_FFT STREQUAL any)
  message(FATAL_ERROR "ISOBAR_FFT=${ISOBAR_FFT}, but pkg-config does not find it (on Debian: libfftw3-dev, libkissfft-dev)")
endif()
set(fft_sources worlds/fft_fftw worlds/fft_kissfft worlds/fft_absent)
list(REMOVE_ITEM fft_sources worlds/fft_${fft})
set_source_files_properties(${PROJECT_SOURCE_DIR}/isobar/worlds/fft_${fft}.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
list(APPEND left_out ${fft_sources})
set(fft_text_fftw "FFTW, under the GPL (-DISOBAR_FFT=kissfft takes one under the BSD licence)")
set(fft_text_kissfft "KISS FFT, under the BSD licence")
isobar_part("Fourier" "${fft_libraries}" "${fft_text_${fft}}"
  "no universe and no atmosphere can be made (libfftw3-dev, GPL, or libkissfft-dev, BSD, brings them)")

# The tests make files of every format, so they need those parts; they can do without SimGrid and a second MPI.
if(ISOBAR_TESTS)
  set(tests_need "")
  find_package(GTest QUIET)
  foreach(need GTest_FOUND:libgtest-dev NETCDF_FOUND:libnetcdf-dev LMDB_FOUND:liblmdb-dev
          ONNX_AND_PROTOBUF:libonnx-dev fft_libraries:libfftw3-dev isobar_launchers:mpich)
    string(REPLACE ":" ";" need ${need})
    list(GET need 0 variable)
    list(GET need 1 package)
    if(NOT ${variable})
      string(APPEND tests_need " ${package}")
    endif()
  endforeach()
  if(tests IN_LIST without OR tests_need)
    set(ISOBAR_TESTS OFF)
  endif()
  isobar_part("tests" ${ISOBAR_TESTS} "built" "not built (they need${tests_need})")
endif()

# The rows as C++, for `isobar doctor`, and as CMake's last lines.
get_property(parts GLOBAL PROPERTY ISOBAR_PARTS)
set(part_rows "")
foreach(part ${parts})
  string(REGEX REPLACE "^(.*)\\|(.*)\\|(.*)$" "    {\"\\1\", \\2, \"\\3\"},\n" row "${part}")
  string(APPEND part_rows "${row}")
endforeach()
set(part_texts ${CMAKE_BINARY_DIR}/generated/parts.cpp)
file(CONFIGURE OUTPUT ${part_texts} @ONLY CONTENT
"// Made by cmake/parts.cmake.
#include \"isobar/machine/parts.hpp\"

namespace isobar::machine {

std::span<const BuiltPart> parts() {
  static constexpr BuiltPart all[] = {
@part_rows@  };
  return all;
}

}  // namespace isobar::machine
")
# If the list changes, only this file is compiled again.
set_source_files_properties(${part_texts} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
function(isobar_tell_parts)
  message(STATUS "Parts of Isobar:")
  get_property(parts GLOBAL PROPERTY ISOBAR_PARTS)
  foreach(part ${parts})
    string(REGEX MATCH "^(.*)\\|(.*)\\|(.*)$" row "${part}")
    string(SUBSTRING "${CMAKE_MATCH_1}            " 0 12 name)
    set(missing "")
    if(CMAKE_MATCH_2 STREQUAL false)
      set(missing "missing: ")
    endif()
    message(STATUS "  ${name}${missing}${CMAKE_MATCH_3}")
  endforeach()
endfunction()
