#include "isobar/cli/sibling.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

#include "isobar/base/error.hpp"
#include "isobar/comm_mpi/world.hpp"

namespace isobar::cli {

void become_sibling_if_needed(char** argv) {
  const comm_mpi::Launch launch = comm_mpi::launched();
  const std::string wanted = comm_mpi::library_for(launch);
  if (wanted.empty() || wanted == comm_mpi::library()) return;
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  const auto sibling = self.parent_path() / (wanted == "MPICH" ? "isobar" : "isobar-openmpi");
  execv(sibling.c_str(), argv);
  fail("started by the launcher of {}, but this program is linked with {}, and {} cannot be run: {}", wanted,
       comm_mpi::library(), sibling.string(), std::strerror(errno));
}

}  // namespace isobar::cli
