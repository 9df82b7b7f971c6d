// What a rank tells the user when its work has failed.
#include "isobar/comm_mpi/world.hpp"

namespace isobar::comm_mpi {

std::optional<std::string> last_words(World& world, const std::exception& error) {
  comm::Comm& comm = world.comm();
  if (!comm.abort(error.what())) return {};
  try {
    comm.check();
  } catch (const comm::Aborted& told) {
    if (comm.size() > 1) return told.what();
  }
  return error.what();
}

}  // namespace isobar::comm_mpi
