// The world of a process that no launcher started: it is alone, and MPI is not touched.
#pragma once

#include <memory>

#include "isobar/comm_mpi/world.hpp"

namespace isobar::comm_mpi {

std::unique_ptr<World> alone_world();

}  // namespace isobar::comm_mpi
