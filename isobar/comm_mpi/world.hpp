// The world of all ranks that a launcher started together, over MPI. This header does not include MPI, so that the same
// callers can be linked with any MPI library. Without a launcher MPI is not used, and the world is this process.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/comm/crew.hpp"
#include "isobar/comm_mpi/launch.hpp"
#include "isobar/control/lifeline.hpp"

namespace isobar::comm_mpi {

/// What this program was linked with: "MPICH" (or one with the same launchers and variables: Cray's, Intel's),
/// "Open MPI", "MPI" (another), or no_library.
std::string_view library();
inline constexpr std::string_view no_library = "no MPI";

class World {
 public:
  virtual ~World() = default;

  /// The group of all ranks; lives as long as the world. If ranks may die, use crew() for messages instead.
  virtual comm::Comm& comm() = 0;
  /// The ranks at work; if a launcher supervises the run, they may die without ending it.
  virtual comm::Crew& crew() = 0;
  /// The connection to the launcher that supervises the run; null if none does.
  virtual control::Lifeline* lifeline() { return nullptr; }
  /// The MPI library and its version: "MPICH 4.0.2"; "none" without a launcher.
  virtual std::string version() const = 0;
  /// The thread support of the library: "serialized" or "multiple".
  virtual std::string thread_level() const = 0;
  virtual int node_count() const = 0;
  /// The host name of every rank, by rank.
  virtual std::vector<std::string> hosts() const = 0;

  /// Ends this rank's part; every rank calls it last, once. Without a failure (exit codes 0 and 130) it waits until all
  /// ranks have called it, and returns. After a failure it does not return but ends the process within seconds: if all
  /// ranks have called it, with the `exit_code` of the rank that failed, so that every launcher passes that code on to
  /// the user; if some cannot, because they hang or have died, with its own, and the launcher ends the others. The rank
  /// that failed has already told the user (last_words). Under a launcher that supervises the run it never returns.
  virtual void leave(int exit_code) = 0;
};

/// Joins the other ranks. Call it once per process, before anything else uses MPI; all ranks must call.
std::unique_ptr<World> join();
/// The world of a process that no launcher started.
std::unique_ptr<World> alone_world();

/// The line this rank must show the user before it leaves, when `error` has ended its work; empty if another rank
/// failed first. Notifies all ranks of this failure, if they do not know it.
std::optional<std::string> last_words(World& world, const std::exception& error);

}  // namespace isobar::comm_mpi
