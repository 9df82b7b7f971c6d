// The engine for background sums, driven with flights that only record what is done with them.
#include "isobar/comm/background_reducer.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include <gtest/gtest.h>

#include "isobar/comm/flight.hpp"
#include "isobar/comm/local_comm.hpp"

#include "tests/expect_error.hpp"

namespace isobar::comm {
namespace {

// What flights share with the test; a flight ends once `open` is at least its number, or throws.
struct Log {
  std::atomic<std::int64_t> open = -1, ended = 0;
  std::mutex mutex;
  std::vector<std::int64_t> advanced, withdrawn;
  std::string failure;
};

class LoggedRoute final : public Route {
 public:
  explicit LoggedRoute(Log& log) : log_(log) {}
  std::unique_ptr<Flight> fly(std::int64_t number, Range, const codec::Codec&) override {
    return std::make_unique<Logged>(log_, number);
  }
  std::string describe() const override { return "logged"; }

 private:
  class Logged final : public Flight {
   public:
    Logged(Log& log, std::int64_t number) : log_(log), number_(number) {}
    ~Logged() override {
      const std::lock_guard lock(log_.mutex);
      log_.withdrawn.push_back(number_);
    }
    bool advance() override {
      const std::lock_guard lock(log_.mutex);
      if (log_.open < number_) return false;
      if (!log_.failure.empty()) fail("{}", log_.failure);
      log_.advanced.push_back(number_);
      ++log_.ended;
      log_.ended.notify_all();
      return true;
    }

   private:
    Log& log_;
    std::int64_t number_;
  };
  Log& log_;
};

std::unique_ptr<BackgroundReducer> logged_reducer(Comm& comm, Log& log) {
  static GradientMemory memory(10);
  auto reducer = std::make_unique<BackgroundReducer>(comm, memory, ReducerOptions{}, false);
  std::vector<std::unique_ptr<Route>> routes;
  routes.push_back(std::make_unique<LoggedRoute>(log));
  reducer->use(std::move(routes));
  reducer->choose([](std::size_t) { return 0; }, "logged");
  return reducer;
}

TEST(BackgroundReducer, SumsGoOnWhileNobodyWaits) {
  const auto comm = alone();
  Log log;
  const auto reducer = logged_reducer(*comm, log);
  log.open = 100;
  const Reducer::Sum sum = reducer->start({{0, 10}, 0, "one"});
  log.ended.wait(0);  // the thread did it
  reducer->wait(sum);
  EXPECT_EQ(reducer->cost().sums, 1);
}

TEST(BackgroundReducer, HighPrioritiesAreServedFirst) {
  const auto comm = alone();
  Log log;
  const auto reducer = logged_reducer(*comm, log);
  for (const int priority : {1, 5, 3, 5, 9, 1}) reducer->start({{0, 1}, priority, "some"});
  {
    // Nothing advances meanwhile. A poll under way may have passed some flights already: it ends the others first.
    const std::lock_guard lock(log.mutex);
    log.open = 100;
  }
  for (Reducer::Sum sum = 0; sum < 6; ++sum) reducer->wait(sum);
  std::vector<std::int64_t> order = log.advanced;
  ASSERT_EQ(order.size(), 6u);
  std::ranges::rotate(order, std::ranges::find(order, 4));
  EXPECT_EQ(order, (std::vector<std::int64_t>{4, 1, 3, 2, 0, 5}));
}

TEST(BackgroundReducer, AnErrorIsKeptForWhoWaits) {
  const auto comm = alone();
  Log log;
  const auto reducer = logged_reducer(*comm, log);
  log.failure = "the cable is cut";
  log.open = 100;
  const Reducer::Sum sum = reducer->start({{0, 1}, 0, "one"});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(tests::error_of([&] { reducer->wait(sum); }), "the cable is cut");
  EXPECT_EQ(tests::error_of([&] { reducer->start({{0, 1}, 0, "two"}); }), "the cable is cut");
  EXPECT_HAS(tests::error_of([&] { comm->check(); }), "[rank 0] the cable is cut");  // all ranks were notified
}

TEST(BackgroundReducer, WhatIsUnderWayIsWithdrawnAtTheEnd) {
  const auto comm = alone();
  Log log;
  {
    const auto reducer = logged_reducer(*comm, log);
    for (int i = 0; i < 3; ++i) reducer->start({{0, 1}, 0, "never ends"});
  }
  EXPECT_EQ(log.withdrawn.size(), 3u);
  EXPECT_TRUE(log.advanced.empty());
}

TEST(BackgroundReducer, ARangeOutsideIsAMistake) {
  const auto comm = alone();
  Log log;
  const auto reducer = logged_reducer(*comm, log);
  EXPECT_THROW(reducer->start({{5, 6}, 0, "too long"}), std::logic_error);
  EXPECT_THROW(reducer->wait(0), std::logic_error);
}

}  // namespace
}  // namespace isobar::comm
