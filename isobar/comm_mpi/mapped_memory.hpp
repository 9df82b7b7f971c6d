// Memory that ranks of one node share, mapped from an unnamed file: not an MPI window, because all ranks must free a
// window together, and not a file under /dev/shm, which is small in many containers.
#pragma once

#include <cstddef>
#include <memory>

#include "isobar/comm/comm.hpp"

namespace isobar::comm_mpi {

/// Makes memory that all members see, `bytes` for each, all zero. All ranks must call, and be on one node.
std::shared_ptr<comm::SharedMemory> map_memory(comm::Comm& comm, std::size_t bytes);

}  // namespace isobar::comm_mpi
