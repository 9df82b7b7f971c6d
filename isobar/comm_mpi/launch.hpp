// How this process was started, as its environment tells: no MPI call is made, so any verb may ask.
#pragma once

#include <string>

namespace isobar::comm_mpi {

struct Launch {
  int ranks = 1;
  int rank = 0;
  std::string launcher{};  ///< "Open MPI", "MPICH" (any that speaks PMI), "PMIx" or "srun"; empty: none
};

/// What the launcher told; one rank and no launcher's name when there was none.
Launch launched();

/// This rank's number on its node; -1 when the launcher does not tell.
int launched_local_rank();

/// The library a program for this launcher must be linked with, as library() names it; empty when any will do.
std::string library_for(const Launch& launch);

/// The files in shared memory that this rank leaves when it does not end in order, as a pattern of the shell; empty
/// where the launcher removes them.
std::string left_behind();

}  // namespace isobar::comm_mpi
