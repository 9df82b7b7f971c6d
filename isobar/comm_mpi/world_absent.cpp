// For builds without an MPI library: one process, and no launcher.
#include "isobar/base/error.hpp"
#include "isobar/comm_mpi/world.hpp"

namespace isobar::comm_mpi {

std::string_view library() { return no_library; }

std::unique_ptr<World> join() {
  const Launch launch = launched();
  if (launch.ranks > 1)
    fail(
        "{} started {} ranks, but this build has no MPI and each of them is alone; install libmpich-dev and mpich, or "
        "load the module of your site's MPI, and build again",
        launch.launcher == "srun" ? "srun" : "the launcher", launch.ranks);
  return alone_world();
}

}  // namespace isobar::comm_mpi
