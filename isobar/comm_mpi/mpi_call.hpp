// Calls to MPI: a return code other than success becomes an Error of one line.
#pragma once

#include <mpi.h>
#include <string>

#include "isobar/base/error.hpp"
#include "isobar/comm_mpi/world.hpp"

namespace isobar::comm_mpi {

inline int error_class(int code) {
  int kind = MPI_ERR_UNKNOWN;
  MPI_Error_class(code, &kind);
  return kind;
}

inline std::string error_text(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  std::string line(text, length);
  return line.substr(0, line.find('\n'));
}

inline void call(int code, const char* what) {
  if (code != MPI_SUCCESS) fail("MPI could not {}: {}", what, error_text(code));
}

/// "MPICH 4.0.2": of "MPICH Version:\t4.0.2\n..." or "Open MPI v4.1.4, package: ..." the first number.
inline std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  call(MPI_Get_library_version(text, &length), "tell its version");
  const std::string_view all(text, length);
  const auto begin = all.find_first_of("0123456789"), end = all.find_first_not_of("0123456789.", begin);
  return begin == all.npos ? std::string(library()) : fmt::format("{} {}", library(), all.substr(begin, end - begin));
}

}  // namespace isobar::comm_mpi
