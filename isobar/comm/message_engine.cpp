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
    if (--engine_.waiting_ == 0 && engine_.to_do_ > 0) engine_.wake_.notify_one();
  }

 private:
  MessageEngine& engine_;
};

MessageEngine::MessageEngine() {
  thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

std::shared_ptr<MessageEngine> WorldView::engine() {
  const std::lock_guard lock(engine_mutex_);
  auto engine = engine_.lock();
  if (!engine) engine_ = engine = std::make_shared<MessageEngine>();
  return engine;
}

MessageEngine::Client::Client(Comm& comm, const ReducerOptions& limits, std::function<std::int64_t()> progress)
    : engine_(comm.view()->engine()), comm_(comm), limits_(limits), progress_(std::move(progress)) {}

MessageEngine::Flying MessageEngine::Client::start(std::unique_ptr<Flight> flight, int priority, std::string what,
                                                   std::function<void()> ended, bool at_once) {
  const std::lock_guard lock(engine_->mutex_);
  if (error_) std::rethrow_exception(error_);
  expects(static_cast<std::int64_t>(under_way_.size()) < sums_under_way - 1, "fewer sums under way");
  engine_->fresh_.push_back({this, started_, priority, std::move(flight), std::move(ended)});
  ++engine_->to_do_;
  under_way_.emplace(started_, std::move(what));
  clock_.begin(comm_.now());
  if (!at_once) engine_->wake_.notify_one();
  return started_++;
}

void MessageEngine::Client::wait(Flying flying) {
  if (!is_under_way(flying)) return;
  const double began = comm_.now();
  try {
    await(flying);
  } catch (const Aborted&) {  // perhaps caused by this rank itself: then its own error says more
    const std::lock_guard looking(engine_->looking_);
    is_under_way(flying);
    throw;
  }
  const std::lock_guard lock(engine_->mutex_);
  clock_.waited(comm_.now() - began);
}

bool MessageEngine::Client::is_under_way(Flying flying) {
  const std::lock_guard lock(engine_->mutex_);
  expects(flying >= 0 && flying < started_, "a sum that was started");
  if (error_) std::rethrow_exception(error_);
  return under_way_.contains(flying);
}

void MessageEngine::Client::await(Flying flying) {
  const Waiting waiting(*engine_);
  std::string what;
  {
    const std::lock_guard lock(engine_->mutex_);
    if (const auto found = under_way_.find(flying); found != under_way_.end()) what = found->second;
  }
  const auto missing = [&]() -> std::vector<int> {
    const std::lock_guard lock(engine_->looking_);
    const auto found = std::ranges::find_if(
        engine_->flights_, [&](const UnderWay& each) { return each.client == this && each.number == flying; });
    return found == engine_->flights_.end() ? std::vector<int>() : found->flight->missing();
  };
  StallWatch watch(comm_, limits_, what);
  std::int64_t before = progress_(), ended_before = ended();
  for (Patience patience(look_microseconds); is_under_way(flying);) {
    if (engine_->look()) {
      patience.reset();
      if (const std::int64_t now = ended(); std::exchange(ended_before, now) != now) watch.progress();
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
    for (UnderWay& fresh : fresh_) {
      const auto at = std::ranges::upper_bound(flights_, fresh.priority, std::greater(), &UnderWay::priority);
      flights_.insert(at, std::move(fresh));
    }
    fresh_.clear();
  }
  bool ended = false;
  for (auto flight = flights_.begin(); flight != flights_.end();) {
    try {
      if (!advance(*flight)) {
        ++flight;
        continue;
      }
      flight = flights_.erase(flight);
    } catch (...) {
      flight->client->keep_error();
      ++flight;
    }
    ended = true;
  }
  return ended;
}

// Returns whether it has ended.
bool MessageEngine::advance(UnderWay& flight) {
  Client& client = *flight.client;
  // Only whoever looks sets it.
  if (client.error_ || !flight.flight->advance()) return false;
  if (flight.ended) flight.ended();
  flight.flight.reset();
  const std::lock_guard lock(mutex_);
  client.under_way_.erase(flight.number);
  ++client.ended_;
  client.clock_.end(client.comm_.now());
  --to_do_;
  return true;
}

// A failure here is a failure of all ranks: the others are notified before the caller.
void MessageEngine::Client::keep_error() {
  std::exception_ptr error;
  try {
    guarded(comm_, [] { throw; });
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(engine_->mutex_);
  error_ = error;
  engine_->to_do_ -= std::ssize(under_way_);
}

void MessageEngine::withdraw(Client& client) {
  std::vector<UnderWay> withdrawn;  // may take a moment, and others need not wait for it
  const std::lock_guard looking(looking_);
  const std::lock_guard lock(mutex_);
  for (std::vector<UnderWay>* list : {&flights_, &fresh_}) {
    const auto of_others = [&](const UnderWay& flight) { return flight.client != &client; };
    const auto first = std::stable_partition(list->begin(), list->end(), of_others);
    std::move(first, list->end(), std::back_inserter(withdrawn));
    list->erase(first, list->end());
  }
  if (!client.error_) to_do_ -= std::ssize(client.under_way_);
}

void MessageEngine::serve(const std::stop_token& stop) {
  const auto needed = [&] { return to_do_ > 0 && waiting_ == 0; };
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

std::int64_t MessageEngine::Client::ended() const {
  const std::lock_guard lock(engine_->mutex_);
  return ended_;
}

ExchangeCost MessageEngine::Client::cost() const {
  const std::lock_guard lock(engine_->mutex_);
  return clock_.cost(comm_.now());
}

void MessageEngine::Client::reset_cost() {
  const std::lock_guard lock(engine_->mutex_);
  expects(under_way_.empty(), "no sum under way");
  clock_ = {};
}

}  // namespace isobar::comm
