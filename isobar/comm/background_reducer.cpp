#include "isobar/comm/background_reducer.hpp"

#include <algorithm>
#include <chrono>

#include "isobar/comm/patience.hpp"
#include "isobar/comm/stall_watch.hpp"

namespace isobar::comm {
namespace {

constexpr int look_microseconds = 50;  // between polls; messages make progress meanwhile

}  // namespace

BackgroundReducer::BackgroundReducer(Comm& comm, std::size_t floats, const ReducerOptions& options, bool shared)
    : comm_(comm), options_(options), own_(duplicate(comm)) {
  if (shared) node_ = std::make_unique<NodeGroup>(comm, floats);
  else floats_ = std::make_unique<AlignedFloats>(floats);
  place_ = std::make_unique<Place>(Place{*own_, shared ? node_->memory() : floats_->all(), options.wire, node_.get()});
  thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

BackgroundReducer::~BackgroundReducer() {
  thread_.request_stop();
  thread_.join();  // before flights are withdrawn
}

void BackgroundReducer::choose(std::function<std::size_t(std::size_t)> choice, std::string described) {
  const std::lock_guard lock(mutex_);
  expects(under_way_.empty(), "no sum under way");
  choose_ = std::move(choice);
  clock_ = {};
  traffic_before_ = traffic();
  described_ = std::move(described);
}

Reducer::Sum BackgroundReducer::start(Range range, int priority, std::string what, std::function<void()> ended) {
  expect_within(range, memory().size());
  const Sum number = started_++;
  auto flight = routes_[choose_(range.count)]->fly(number, range);
  if (node_) node_->started(number + 1);
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  expects(static_cast<std::int64_t>(under_way_.size()) < sums_under_way - 1, "fewer sums under way");
  fresh_.push_back({number, priority, std::move(flight), std::move(ended)});
  under_way_.emplace(number, std::move(what));
  clock_.begin(comm_.now());
  wake_.notify_one();
  return number;
}

void BackgroundReducer::wait(Sum sum) {
  expects(sum >= 0 && sum < started_, "a sum that was started");
  if (!is_under_way(sum)) return;
  const double began = comm_.now();
  try {
    await(sum);
  } catch (const Aborted&) {  // perhaps caused by this rank itself: then its own error says more
    const std::lock_guard looking(looking_);
    is_under_way(sum);
    throw;
  }
  const std::lock_guard lock(mutex_);
  clock_.waited(comm_.now() - began);
}

bool BackgroundReducer::is_under_way(Sum sum) {
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  return under_way_.contains(sum);
}

void BackgroundReducer::await(Sum sum) {
  struct Waiting {  // the thread stays away while this exists
    explicit Waiting(BackgroundReducer& reducer) : all(reducer) {
      const std::lock_guard lock(all.mutex_);
      ++all.waiting_;
    }
    ~Waiting() {
      const std::lock_guard lock(all.mutex_);
      --all.waiting_;
      all.wake_.notify_one();
    }
    BackgroundReducer& all;
  } const waiting(*this);

  std::string what;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = under_way_.find(sum); found != under_way_.end()) what = found->second;
  }
  const auto missing = [&]() -> std::vector<int> {
    const std::lock_guard lock(looking_);
    const auto found = std::ranges::find(flights_, sum, &UnderWay::number);
    return found == flights_.end() ? std::vector<int>() : found->flight->missing();
  };
  StallWatch watch(comm_, options_, what);
  Traffic before = traffic();
  for (Patience patience(look_microseconds); is_under_way(sum);) {
    if (look()) {
      patience.reset();
      watch.progress();
    } else if (patience.pause()) {
      const Traffic now = traffic();
      if (now.messages != before.messages) watch.progress();
      before = now;
      watch.look(missing);
    }
  }
}

// Advances all flights once; returns whether one has ended.
bool BackgroundReducer::look() {
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
    for (auto sum = flights_.begin(); sum != flights_.end();) {
      if (!sum->flight->advance()) {
        ++sum;
        continue;
      }
      const Sum number = sum->number;
      if (sum->ended) sum->ended();
      sum = flights_.erase(sum);
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
void BackgroundReducer::keep_error() {
  std::exception_ptr error;
  try {
    guarded(comm_, [] { throw; });
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  error_ = error;
}

void BackgroundReducer::serve(const std::stop_token& stop) {
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

Traffic BackgroundReducer::traffic() const {
  Traffic all = own_->traffic();
  const auto add = [&](Traffic more) {
    all.messages += more.messages;
    all.bytes += more.bytes;
  };
  if (node_) add(node_->traffic());
  if (node_ && node_->between()) add(node_->between()->traffic());
  return all;
}

ExchangeCost BackgroundReducer::cost() const {
  const Traffic all = traffic();
  const std::lock_guard lock(mutex_);
  ExchangeCost cost = clock_.cost(comm_.now());
  cost.traffic = {all.messages - traffic_before_.messages, all.bytes - traffic_before_.bytes};
  return cost;
}

}  // namespace isobar::comm
