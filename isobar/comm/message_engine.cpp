#include "isobar/comm/message_engine.hpp"

#include <algorithm>
#include <chrono>

#include "isobar/comm/patience.hpp"
#include "isobar/comm/stall_watch.hpp"

namespace isobar::comm {
namespace {

constexpr int look_microseconds = 50;  // between polls; messages make progress meanwhile

}  // namespace

class MessageEngine::Waiting {
 public:
  explicit Waiting(MessageEngine& engine) : engine_(engine) {
    const std::lock_guard lock(engine_.mutex_);
    ++engine_.waiting_;
  }
  ~Waiting() {
    const std::lock_guard lock(engine_.mutex_);
    --engine_.waiting_;
    engine_.wake_.notify_one();
  }

 private:
  MessageEngine& engine_;
};

MessageEngine::MessageEngine(Comm& comm, const ReducerOptions& limits, std::function<std::int64_t()> progress)
    : comm_(comm), limits_(limits), progress_(std::move(progress)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

MessageEngine::~MessageEngine() {
  thread_.request_stop();
  thread_.join();  // before flights are withdrawn
}

MessageEngine::Flying MessageEngine::start(std::unique_ptr<Flight> flight, int priority, std::string what,
                                           std::function<void()> ended) {
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  expects(static_cast<std::int64_t>(under_way_.size()) < sums_under_way - 1, "fewer sums under way");
  fresh_.push_back({started_, priority, std::move(flight), std::move(ended)});
  under_way_.emplace(started_, std::move(what));
  clock_.begin(comm_.now());
  wake_.notify_one();
  return started_++;
}

void MessageEngine::wait(Flying flying) {
  if (!is_under_way(flying)) return;
  const double began = comm_.now();
  try {
    await(flying);
  } catch (const Aborted&) {  // perhaps caused by this rank itself: then its own error says more
    const std::lock_guard looking(looking_);
    is_under_way(flying);
    throw;
  }
  const std::lock_guard lock(mutex_);
  clock_.waited(comm_.now() - began);
}

bool MessageEngine::is_under_way(Flying flying) {
  const std::lock_guard lock(mutex_);
  expects(flying >= 0 && flying < started_, "a sum that was started");
  if (error_) std::rethrow_exception(error_);
  return under_way_.contains(flying);
}

void MessageEngine::await(Flying flying) {
  const Waiting waiting(*this);
  std::string what;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = under_way_.find(flying); found != under_way_.end()) what = found->second;
  }
  const auto missing = [&]() -> std::vector<int> {
    const std::lock_guard lock(looking_);
    const auto found = std::ranges::find(flights_, flying, &UnderWay::number);
    return found == flights_.end() ? std::vector<int>() : found->flight->missing();
  };
  StallWatch watch(comm_, limits_, what);
  std::int64_t before = progress_();
  for (Patience patience(look_microseconds); is_under_way(flying);) {
    if (look()) {
      patience.reset();
      watch.progress();
    } else if (patience.pause()) {
      if (const std::int64_t now = progress_(); std::exchange(before, now) != now) watch.progress();
      watch.look(missing);
    }
  }
}

// Advances all flights once; returns whether one has ended.
bool MessageEngine::look() {
  const std::lock_guard looking(looking_);
  {
    const std::lock_guard lock(mutex_);
    if (error_) return true;
    for (UnderWay& fresh : fresh_) {
      const auto at = std::ranges::upper_bound(flights_, fresh.priority, std::greater(), &UnderWay::priority);
      flights_.insert(at, std::move(fresh));
    }
    fresh_.clear();
  }
  bool ended = false;
  try {
    for (auto flight = flights_.begin(); flight != flights_.end();) {
      if (!flight->flight->advance()) {
        ++flight;
        continue;
      }
      const Flying number = flight->number;
      if (flight->ended) flight->ended();
      flight = flights_.erase(flight);
      const std::lock_guard lock(mutex_);
      under_way_.erase(number);
      clock_.end(comm_.now());
      ended = true;
    }
  } catch (...) {
    keep_error();
    return true;
  }
  return ended;
}

// A failure here is a failure of all ranks: the others are notified before the caller.
void MessageEngine::keep_error() {
  std::exception_ptr error;
  try {
    guarded(comm_, [] { throw; });
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  error_ = error;
}

void MessageEngine::serve(const std::stop_token& stop) {
  const auto needed = [&] { return !under_way_.empty() && waiting_ == 0 && !error_; };
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, stop, needed);
    }
    if (stop.stop_requested()) return;
    look();
    std::this_thread::sleep_for(std::chrono::microseconds(look_microseconds));
  }
}

ExchangeCost MessageEngine::cost() const {
  const std::lock_guard lock(mutex_);
  return clock_.cost(comm_.now());
}

void MessageEngine::reset_cost() {
  const std::lock_guard lock(mutex_);
  expects(under_way_.empty(), "no sum under way");
  clock_ = {};
}

}  // namespace isobar::comm
