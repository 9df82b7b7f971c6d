// Lifeline: a rank's end of the socket to the launcher that supervises the run (isobar run). The launcher notices a
// death when the socket closes and tells all ranks; it alone decides who continues. A thread of the lifeline reads, and
// sends heartbeats so that a frozen rank is noticed. Any thread may call any method, and none waits forever.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "isobar/control/launcher_line.hpp"

namespace isobar::control {

/// What the launcher answers a rank that is ready.
struct Order {
  enum class Kind {
    go,       ///< the members work together, in this order; this rank is one of them
    over,     ///< this rank is no longer needed, or the world has failed, or the launcher is lost
    relaunch  ///< all ranks end, and are restarted
  };
  Kind kind = Kind::over;
  std::uint32_t epoch = 0;
  std::vector<int> members{};  ///< numbers in the world; ranks that were already at work come before spares
};

class Lifeline {
 public:
  /// Connects to the launcher that the environment names and introduces this rank; throws Error if it does not answer.
  explicit Lifeline(int rank);
  Lifeline(int rank, const Address& launcher);

  /// At least 1; grows whenever all must muster again: after a death, or when the work cannot continue in place. Cheap.
  std::uint32_t epoch() const { return news_.epoch; }
  /// Stores what this rank is about to do, for other ranks and for its post-mortem. Cheap: no system call.
  void note(std::string what);
  /// A step is finished on this rank.
  void progress(std::int64_t step);
  /// Tells the launcher where the run's files are: post-mortems of dead ranks are written there.
  void folder(const std::string& path) { say({.kind = Report::Kind::folder, .text = path}); }

  /// Reports that this rank has left every group of earlier epochs, and waits for a new order: after a `go` of the
  /// present epoch the next order comes only with another epoch. `seen_epoch` is the newest epoch the caller knows of.
  Order await_order(std::uint32_t seen_epoch);

  /// Tells all ranks that this one has failed, which ends the run; returns whether it is the first.
  bool fail(const std::string& message);
  /// The first rank that failed, and its message, once the launcher has reported it; cheap while there is none. Rank
  /// -1: the failure follows from an order to relaunch.
  std::optional<std::pair<int, std::string>> failure() const;
  /// From now on the others go on as they are if this rank dies.
  void work_alone() { say({.kind = Report::Kind::alone}); }
  /// Whether a rank has died; cheap while none has.
  bool has_died(int rank) const;
  /// Ranks that have died so far, in the order they were reported; includes spares, whose death changes no epoch.
  std::vector<int> dead() const;
  /// What every rank noted last, by rank in the world, as the launcher knows it (half a second old at most); waits at
  /// most `seconds`. Dead ranks have no value.
  std::vector<std::optional<std::string>> whereabouts(double seconds);
  /// The work cannot continue in place: all ranks get the order to relaunch.
  void give_up(const std::string& why) { say({.kind = Report::Kind::give_up, .text = why}); }
  /// This rank has done its part; returns when the launcher lets it go: when all ranks are done, or at once after a
  /// failure or if the launcher is lost.
  void goodbye(int exit_code);
  /// Whether the launcher is gone. Then the function given to on_stop() has been called, and the process ends by itself
  /// 15 s later.
  bool lost() const { return lost_; }
  /// `stop` is called once, on the lifeline's thread, when the launcher forwards a stop signal or is lost; at once if
  /// that has already happened.
  void on_stop(std::function<void()> stop);

 private:
  /// What the launcher has told. The lock guards it; atomics are also read without.
  struct News {
    std::atomic<std::uint32_t> epoch = 0;
    std::atomic<bool> failed = false, deaths = false;
    std::optional<std::pair<int, std::string>> failure{};
    std::optional<Order> order{};
    std::vector<int> dead{};
    std::vector<std::optional<std::string>> notes{};  // of every rank
    std::uint64_t answers = 0;                        // complete sets of notes that have come
    bool released = false;

    /// Keeps the first failure.
    void fail(int rank, const std::string& message);
    /// Returns whether the rank must stop.
    bool hear(Notice notice);
  };

  template <class F>
  bool wait_until(std::unique_lock<std::mutex>& lock, double seconds, F met);
  void say(const Report& report);
  void live(const std::stop_token& ending);
  bool hear();

  const int rank_;
  mutable std::mutex mutex_;  // guards line, news and stop
  std::condition_variable changed_;
  LauncherLine line_;
  News news_;
  std::atomic<bool> lost_ = false;
  std::function<void()> stop_;
  bool stopped_ = false;
  std::mutex note_mutex_;  // of its own, because the other is held during system calls
  std::string note_;
  std::jthread thread_;  // joined first of all members
};

}  // namespace isobar::control
