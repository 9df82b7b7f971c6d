// The crew of a supervised run: the launcher decides who works together, over the lifeline.
#pragma once

#include <memory>

#include "isobar/comm/crew.hpp"
#include "isobar/comm_mpi/mpi_comm.hpp"
#include "isobar/comm_mpi/mpi_world.hpp"

namespace isobar::comm_mpi {

/// `all` is the group of all ranks of the world, which must be elastic; both must outlive the crew.
std::unique_ptr<comm::Crew> lifeline_crew(MpiWorld& world, MpiComm& all);

}  // namespace isobar::comm_mpi
