// Lifeline: a rank's end of the socket to the launcher that supervises the run (isobar run). The launcher sees a death
// by the end of the socket and tells all ranks; it alone decides who goes on. A thread of the lifeline reads, and beats
// so that a frozen rank is seen. Every method may be called from every thread, and none waits for ever.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "isobar/control/address.hpp"

namespace isobar::control {

/// What the launcher answers a rank that is ready.
struct Order {
  enum class Kind {
    go,       ///< the members work together, in this order; this rank is one of them
    over,     ///< this rank is not needed any more, or the world has failed, or the launcher is lost
    relaunch  ///< all ranks end, and are started anew
  };
  Kind kind = Kind::over;
  std::uint32_t epoch = 0;
  std::vector<int> members{};  ///< numbers in the world; those that have been at work come before spares
};

class Lifeline {
 public:
  /// Connects to the launcher that the environment names and presents this rank; throws Error when it does not answer.
  explicit Lifeline(int rank);
  Lifeline(int rank, const Address& launcher);
  ~Lifeline();
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

  /// At least 1; grows whenever all must muster anew: with deaths, or when the work cannot go on in place. Cheap.
  std::uint32_t epoch() const;
  /// Keeps what this rank is about to do, for others and for after its death. Cheap: no call of the system.
  void note(std::string what);
  /// A step is finished on this rank.
  void progress(std::int64_t step);
  /// Where the run's files are: what is known of a dead rank is written there.
  void folder(const std::string& path);

  /// Says that this rank has left every group of an earlier epoch than the present one, and waits for an order it has
  /// not had yet: after a `go` of the present epoch the next one comes only with another epoch. `seen_epoch`: the
  /// newest epoch the caller knows of.
  Order await_order(std::uint32_t seen_epoch);

  /// Tells all ranks that this one has failed, which ends the run; returns whether it is the first.
  bool fail(const std::string& message);
  /// The first failure of a rank, and its message, once the launcher has told it; cheap while there is none. Rank -1:
  /// it follows from an order to relaunch.
  std::optional<std::pair<int, std::string>> failure() const;
  /// Ranks that have died so far, in the order they were told; also spares, whose death moves no epoch.
  std::vector<int> dead() const;
  /// What every rank noted last, by rank in the world, as the launcher knows it (half a second old at most); waits at
  /// most so long. Dead ranks have no value.
  std::vector<std::optional<std::string>> whereabouts(double seconds);
  /// The work cannot go on in place: all ranks get the order to relaunch.
  void give_up(const std::string& why);
  /// This rank has done its part; returns when the launcher lets it go: at once after a failure or when the launcher is
  /// lost, otherwise when all are done.
  void goodbye(int exit_code);
  /// The launcher is gone. on_stop() has been called then, and the process ends by itself 15 s later.
  bool lost() const;
  /// Called once, on the lifeline's thread, when the launcher passes on a signal to stop or is lost; at once if so
  /// already.
  void on_stop(std::function<void()> stop);

 private:
  class Line;
  std::unique_ptr<Line> line_;
};

}  // namespace isobar::control
