// MessageEngine: what is under way on one rank while it computes, in the order of priorities: sums and messages of all
// its clients. A thread advances them and sleeps in between; a caller that waits advances them itself, more often, and
// the thread stays away. It owns no memory: flights know what they move. Every rank has one at most, found through its
// WorldView, which lives as long as its clients.
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
  /// Of a client, in the order of its starts.
  using Flying = std::int64_t;

  /// Who starts flights: a reducer, for example. An error of one flight ends all of its client, and none of others.
  class Client {
   public:
    /// `comm` is notified of failures, and must outlive this; `limits` say when a wait is reported and when it ends.
    /// `progress` returns a number that changes while messages move.
    Client(Comm& comm, const ReducerOptions& limits, std::function<std::int64_t()> progress);
    /// Withdraws what is under way.
    ~Client() { engine_->withdraw(*this); }
    Client(const Client&) = delete;

    /// Begins to advance a flight; `what` names it in messages about missing ranks. `ended` is called when it is
    /// complete, by any thread; it must be quick. `at_once`: the caller waits for it next, so the thread need not wake
    /// up for it. Throws what made an earlier flight fail.
    Flying start(std::unique_ptr<Flight> flight, int priority, std::string what, std::function<void()> ended = {},
                 bool at_once = false);
    /// Returns when the flight is complete.
    void wait(Flying flying);

    /// The costs of flights since the last reset(), without their traffic.
    ExchangeCost cost() const;
    /// Only while nothing is under way.
    void reset_cost();

   private:
    friend class MessageEngine;
    bool is_under_way(Flying flying);
    void await(Flying flying);
    void keep_error();
    std::int64_t ended() const;

    const std::shared_ptr<MessageEngine> engine_;
    Comm& comm_;
    const ReducerOptions limits_;
    std::function<std::int64_t()> progress_;
    Flying started_ = 0;
    std::int64_t ended_ = 0;
    std::map<Flying, std::string> under_way_;
    std::exception_ptr error_;
    ExchangeClock clock_;
  };

  MessageEngine();

 private:
  struct UnderWay {
    Client* client;
    Flying number;
    int priority;
    std::unique_ptr<Flight> flight;
    std::function<void()> ended;
  };
  /// The thread stays away while this exists.
  class Waiting;

  void serve(const std::stop_token& stop);
  bool look();
  bool advance(UnderWay& flight);
  void withdraw(Client& client);

  std::mutex looking_;             // held while advancing flights
  std::vector<UnderWay> flights_;  // highest priority first, then in the order of starts

  std::mutex mutex_;  // guards what follows and the clients; never held while flights advance: starting one is quick
  std::condition_variable_any wake_;
  std::vector<UnderWay> fresh_;  // started, but not yet among the flights
  std::int64_t to_do_ = 0;       // flights of clients without an error
  int waiting_ = 0;

  std::jthread thread_;  // last, so that it ends before the members it uses
};

}  // namespace isobar::comm
