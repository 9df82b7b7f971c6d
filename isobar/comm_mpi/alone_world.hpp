// The world of a process that no launcher started: it has one rank and does not use MPI.
#pragma once

#include <memory>

#include "isobar/comm_mpi/world.hpp"

namespace isobar::comm_mpi {

std::unique_ptr<World> alone_world();

}  // namespace isobar::comm_mpi
