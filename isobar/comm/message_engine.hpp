// MessageEngine: the flights of one rank that are under way at the same time, in the order of their priorities. While
// the caller computes, a thread advances them and sleeps in between; a caller that waits advances them itself, more
// often, and the thread stays away. It owns no memory: flights know what they move.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "isobar/comm/exchange_clock.hpp"
#include "isobar/comm/flight.hpp"

namespace isobar::comm {

class MessageEngine {
 public:
  /// By number, in the order of starts.
  using Flying = std::int64_t;

  /// `comm` is notified of failures, and must outlive this; `limits` say when a wait is reported and when it ends.
  /// `progress` returns a number that changes while messages move.
  MessageEngine(Comm& comm, const ReducerOptions& limits, std::function<std::int64_t()> progress);
  /// Withdraws what is under way.
  ~MessageEngine();

  /// Begins to advance a flight; `what` names it in messages about missing ranks. `ended` is called when it is
  /// complete, by any thread; it must be quick. Throws what made an earlier flight fail.
  Flying start(std::unique_ptr<Flight> flight, int priority, std::string what, std::function<void()> ended = {});
  /// Returns when the flight is complete.
  void wait(Flying flying);

  /// The costs of flights since the last reset(), without their traffic.
  ExchangeCost cost() const;
  /// Only while nothing is under way.
  void reset_cost();

 private:
  struct UnderWay {
    Flying number;
    int priority;
    std::unique_ptr<Flight> flight;
    std::function<void()> ended;
  };
  /// The thread stays away while this exists.
  class Waiting;

  void serve(const std::stop_token& stop);
  bool look();
  void keep_error();
  bool is_under_way(Flying flying);
  void await(Flying flying);

  Comm& comm_;
  const ReducerOptions limits_;
  std::function<std::int64_t()> progress_;

  std::mutex looking_;             // held while advancing flights
  std::vector<UnderWay> flights_;  // highest priority first, then in the order of starts

  mutable std::mutex mutex_;  // never held while flights advance, so that starting one is quick
  std::condition_variable_any wake_;
  Flying started_ = 0;
  std::vector<UnderWay> fresh_;  // started, but not yet among the flights
  std::map<Flying, std::string> under_way_;
  int waiting_ = 0;
  std::exception_ptr error_;
  ExchangeClock clock_;

  std::jthread thread_;  // last, so that it ends before the members it uses
};

}  // namespace isobar::comm
