// MpiComm: a group of ranks over MPI. All groups use one communicator of MPI: group and epoch are in the tag, members
// are a list, so that a group without a dead member costs no call of MPI. Memory is shared without MPI too.
#pragma once

#include <memory>

#include "isobar/comm/comm.hpp"
#include "isobar/comm_mpi/mpi_world.hpp"

namespace isobar::comm_mpi {

/// The group of all ranks of the world.
std::unique_ptr<comm::Comm> world_group(std::shared_ptr<MpiWorld> world);

}  // namespace isobar::comm_mpi
