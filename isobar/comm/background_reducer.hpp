// BackgroundReducer: many sums under way at once, in the order of their priorities. While the caller computes, a thread
// polls them and sleeps in between; a caller that waits polls them itself, more often, and the thread stays away.
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
#include "isobar/comm/node_group.hpp"
#include "isobar/comm/reducers.hpp"

namespace isobar::comm {

class BackgroundReducer final : public Reducer {
 public:
  /// All ranks must call. With `shared` the ranks of a node share the memory, which routes within nodes need.
  BackgroundReducer(Comm& comm, std::size_t floats, const ReducerOptions& options, bool shared);
  ~BackgroundReducer() override;

  std::span<float> memory() override { return place_->memory; }
  Sum start(Range range, int priority, std::string what, std::function<void()> ended = {}) override;
  void wait(Sum sum) override;
  std::string describe() const override { return described_; }
  ExchangeCost cost() const override;

  /// What routes are constructed with.
  const Place& place() const { return *place_; }
  /// Sets the routes that sums may take; call it before the first sum.
  void use(std::vector<std::unique_ptr<Route>> routes) { routes_ = std::move(routes); }
  /// Sets which route takes a sum, by its count of numbers; only while no sum is under way. Costs count from here on.
  void choose(std::function<std::size_t(std::size_t)> choice, std::string described);

 private:
  struct UnderWay {
    Sum number;
    int priority;
    std::unique_ptr<Flight> flight;
    std::function<void()> ended;
  };

  void serve(const std::stop_token& stop);
  bool look();
  void keep_error();
  Traffic traffic() const;
  bool is_under_way(Sum sum);
  void await(Sum sum);

  Comm& comm_;
  const ReducerOptions options_;
  std::unique_ptr<NodeGroup> node_;
  std::unique_ptr<AlignedFloats> floats_;
  std::unique_ptr<Comm> own_;  // the same ranks, with separate tags
  std::unique_ptr<Place> place_;
  std::vector<std::unique_ptr<Route>> routes_;
  std::function<std::size_t(std::size_t)> choose_;
  std::string described_;
  Sum started_ = 0;

  std::mutex looking_;             // held while advancing flights
  std::vector<UnderWay> flights_;  // highest priority first, then in the order of starts

  mutable std::mutex mutex_;  // never held while flights advance, so that starting a sum is quick
  std::condition_variable_any wake_;
  std::vector<UnderWay> fresh_;  // started, but not yet among the flights
  std::map<Sum, std::string> under_way_;
  int waiting_ = 0;
  std::exception_ptr error_;
  ExchangeClock clock_;
  Traffic traffic_before_;

  std::jthread thread_;  // last, so that it ends before the members it uses
};

}  // namespace isobar::comm
