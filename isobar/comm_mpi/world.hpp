// The world of all ranks that a launcher started together, over MPI. The header shows no MPI: the same callers are
// linked with one library or another. Without a launcher MPI is not touched, and the world is this process.
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

/// What this program was linked with: "MPICH" (any with its launchers and variables: Cray's, Intel's), "Open MPI",
/// "MPI" (another), or no_library.
std::string_view library();
inline constexpr std::string_view no_library = "no MPI";

class World {
 public:
  virtual ~World() = default;

  /// The group of all ranks; lives as long as the world. Where ranks may die it is not for messages: crew() is.
  virtual comm::Comm& comm() = 0;
  /// The ranks at work; where a launcher supervises the run they may die without ending it.
  virtual comm::Crew& crew() = 0;
  /// To the launcher that supervises the run; null when none does.
  virtual control::Lifeline* lifeline() { return nullptr; }
  /// The MPI library and its version: "MPICH 4.0.2"; "none" without a launcher.
  virtual std::string version() const = 0;
  /// What the library grants to threads: "serialized" or "multiple".
  virtual std::string thread_level() const = 0;
  virtual int node_count() const = 0;
  /// The name of the host of every rank, by rank.
  virtual std::vector<std::string> hosts() const = 0;

  /// Ends this rank's part; every rank calls it last, once. Without a failure (exit codes 0 and 130) it waits until all
  /// ranks have called it, and returns. After a failure it does not return but ends the process within seconds: when
  /// all ranks have called it, with the `exit_code` of the rank whose failure it is, so that every launcher gives that
  /// one to the user; when some cannot, because they hang or have died, with its own, and the launcher ends the others.
  /// The rank that failed has told the user before (last_words). Under a launcher that supervises the run it never
  /// returns.
  virtual void leave(int exit_code) = 0;
};

/// Joins the other ranks. Called once in a process, before anything else uses MPI; all ranks must call.
std::unique_ptr<World> join();

/// What this rank must tell the user, in one line and before it leaves, when `error` has ended its work; nothing when
/// another rank's failure is the one that counts. Tells all ranks of this one's failure, if they do not know it.
std::optional<std::string> last_words(World& world, const std::exception& error);

}  // namespace isobar::comm_mpi
