// Service: what ranks tell each other beside their messages: failures, what they are doing, that they come to their
// end. One kind sends letters over MPI, for worlds that end when a rank dies; the other speaks with the launcher that
// supervises the run, for worlds that go on without the dead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace isobar::comm_mpi {

class Service {
 public:
  virtual ~Service() = default;

  /// Whether ranks may die without ending the world.
  virtual bool elastic() const = 0;
  /// Throws Aborted once the world has failed, MembersChanged once groups of this epoch have lost members. Cheap.
  virtual void check(std::uint32_t epoch) const = 0;
  /// Tells all ranks; returns whether this rank's failure is the one that counts.
  virtual bool abort(const std::string& message) = 0;

  virtual void note(std::string what) = 0;
  /// What ranks noted last, in the order asked for; a rank that does not answer in time has no value.
  virtual std::vector<std::optional<std::string>> whereabouts(const std::vector<int>& ranks, double seconds) = 0;
  /// Whether a rank has come to its end without a failure; asks it, and answers no until it has said so.
  virtual bool has_left(int rank) = 0;

  /// All ranks end and are started anew, which is no failure: from now on check() throws Aborted.
  virtual void end_of_launch(const std::string& why) = 0;
  /// The end of this rank's part; see World::leave. When MPI can be ended in good order it returns the exit code of the
  /// world, which is the same on all ranks; or else it ends the process.
  virtual int end(int exit_code) = 0;
};

}  // namespace isobar::comm_mpi
