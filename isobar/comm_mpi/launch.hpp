// How this process was started, according to its environment: makes no MPI call, so any verb may use it.
#pragma once

#include <string>

namespace isobar::comm_mpi {

struct Launch {
  int ranks = 1;
  int rank = 0;
  std::string launcher{};  ///< "Open MPI", "MPICH" (any that speaks PMI), "PMIx" or "srun"; empty: none
};

/// What the launcher set in the environment; one rank and an empty name without a launcher.
Launch launched();

/// This rank's number on its node; -1 if the launcher does not tell.
int launched_local_rank();

/// The library a program for this launcher must be linked with, as library() names it; empty if any will do.
std::string library_for(const Launch& launch);

/// The files in shared memory that this rank leaves when it does not end normally, as a shell pattern; empty if the
/// launcher removes them.
std::string left_behind();

}  // namespace isobar::comm_mpi
