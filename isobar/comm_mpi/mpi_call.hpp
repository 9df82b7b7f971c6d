// Calls to MPI: a return code other than success becomes an Error of one line.
#pragma once

#include <mpi.h>
#include <string>

#include "isobar/base/error.hpp"

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

}  // namespace isobar::comm_mpi
