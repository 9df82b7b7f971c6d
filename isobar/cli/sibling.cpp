#include "isobar/cli/sibling.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <unistd.h>

#include "isobar/base/error.hpp"
#include "isobar/comm_mpi/world.hpp"

namespace isobar::cli {

void become_sibling_if_needed(char** argv) {
  const comm_mpi::Launch launch = comm_mpi::launched();
  const std::string wanted = comm_mpi::library_for(launch);
  const std::string_view library = comm_mpi::library();
  if (wanted.empty() || wanted == library || (library != "MPICH" && library != "Open MPI")) return;
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  const auto sibling = self.parent_path() / (wanted == "MPICH" ? "isobar" : "isobar-openmpi");
  // With only one MPI library, its program is always bin/isobar.
  if (sibling != self && std::filesystem::exists(sibling)) {
    execv(sibling.c_str(), argv);
    fail("started by the launcher of {}, but this program is linked with {}, and {} cannot be run: {}", wanted, library,
         sibling.string(), std::strerror(errno));
  }
  fail(
      "started by the launcher of {}, but this program is linked with {}, and there is none for {} beside it ({}); use "
      "the launcher of {}, or install {} and build again",
      wanted, library, wanted, sibling.string(), library,
      wanted == "MPICH" ? "libmpich-dev and mpich" : "libopenmpi-dev and openmpi-bin");
}

}  // namespace isobar::cli
