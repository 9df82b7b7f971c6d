#include "isobar/control/lifeline.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/control/shield.hpp"

namespace isobar::control {
namespace {

constexpr double seconds_between_beats = 0.5, seconds_to_connect = 20, seconds_to_answer = 5;
constexpr int exit_expelled = 130;

Address launcher_of_environment() {
  const char* text = std::getenv(address_variable);
  return read_address(text ? text : "");
}

// A rank whose launcher is gone must end, whatever it is doing.
void end_alone(const std::stop_token& ending) {
  for (const double end = now_seconds() + longest_alone - 1; now_seconds() < end;) {
    if (ending.stop_requested()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  _exit(exit_expelled);
}

}  // namespace

void Lifeline::News::fail(int rank, const std::string& message) {
  if (!failure) failure = {rank, message};
  failed = true;
}

bool Lifeline::News::hear(Notice notice) {
  switch (notice.kind) {
    case Notice::Kind::welcome:
      epoch = notice.epoch;
      notes.resize(notice.rank);
      break;
    case Notice::Kind::dead:
      epoch = notice.epoch;
      order.reset();
      dead.push_back(notice.rank);
      deaths = true;
      break;
    case Notice::Kind::gone:
      dead.push_back(notice.rank);
      deaths = true;
      break;
    case Notice::Kind::go:
      if (notice.epoch == epoch) order = {Order::Kind::go, notice.epoch, std::move(notice.members)};
      break;
    case Notice::Kind::over: order = {Order::Kind::over, epoch}; break;
    case Notice::Kind::relaunch:
      epoch = notice.epoch;
      order = {Order::Kind::relaunch, notice.epoch};
      break;
    case Notice::Kind::failure: fail(notice.rank, notice.text); break;
    case Notice::Kind::note:
      if (notice.rank >= 0 && notice.rank < std::ssize(notes)) notes[notice.rank] = std::move(notice.text);
      break;
    case Notice::Kind::notes: ++answers; break;
    case Notice::Kind::leave: released = true; break;
    case Notice::Kind::stop: return true;
    case Notice::Kind::expelled: _exit(exit_expelled);
  }
  return false;
}

Lifeline::Lifeline(int rank) : Lifeline(rank, launcher_of_environment()) {}

Lifeline::Lifeline(int rank, const Address& launcher)
    : rank_(rank), line_(call_launcher(launcher, rank, false, seconds_to_connect)) {
  if (line_.broken()) isobar::fail("rank {} cannot reach its launcher at {}:{}", rank, launcher.host, launcher.port);
  thread_ = std::jthread([this](const std::stop_token& ending) { live(ending); });
  std::unique_lock lock(mutex_);
  if (!wait_until(lock, seconds_to_connect, [&] { return news_.epoch > 0; }))
    isobar::fail("rank {} was not accepted by the launcher at {}:{}", rank, launcher.host, launcher.port);
}

// Returns whether `met` became true in time, and the launcher was not lost.
template <class F>
bool Lifeline::wait_until(std::unique_lock<std::mutex>& lock, double seconds, F met) {
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return met() || lost_; }) && met();
}

void Lifeline::note(std::string what) {
  LastWords* words = last_words();
  const std::lock_guard lock(note_mutex_);
  if (words) {
    const std::size_t length = std::min(what.size(), LastWords::longest - 1);
    std::memcpy(words->note, what.data(), length);
    words->note[length] = 0;
  }
  note_ = std::move(what);
}

void Lifeline::progress(std::int64_t step) {
  if (LastWords* words = last_words()) words->step = step;
  const std::lock_guard lock(mutex_);
  line_.finished(step);
}

void Lifeline::say(const Report& report) {
  const std::lock_guard lock(mutex_);
  line_.say(report);
}

Order Lifeline::await_order(std::uint32_t seen_epoch) {
  std::unique_lock lock(mutex_);
  expects(seen_epoch <= news_.epoch, "an epoch that the launcher has told");
  for (std::uint32_t asked = 0; !news_.failure && !lost_; changed_.wait(lock)) {
    if (news_.order) {
      line_.await_next_step();  // which marks the end of a recovery
      return *std::exchange(news_.order, std::nullopt);
    }
    if (asked == news_.epoch) continue;
    asked = news_.epoch;
    line_.say({.kind = Report::Kind::ready, .epoch = asked});
  }
  return {};
}

bool Lifeline::fail(const std::string& message) {
  std::unique_lock lock(mutex_);
  if (!news_.failure && !lost_) {
    line_.say({.kind = Report::Kind::fail, .text = message});
    wait_until(lock, seconds_to_answer, [&] { return news_.failure.has_value(); });
  }
  news_.fail(rank_, message);
  return news_.failure->first == rank_;
}

std::optional<std::pair<int, std::string>> Lifeline::failure() const {
  if (!news_.failed) return {};
  const std::lock_guard lock(mutex_);
  return news_.failure;
}

bool Lifeline::has_died(int rank) const {
  if (!news_.deaths) return false;
  const std::lock_guard lock(mutex_);
  return std::ranges::find(news_.dead, rank) != news_.dead.end();
}

std::vector<int> Lifeline::dead() const {
  const std::lock_guard lock(mutex_);
  return news_.dead;
}

std::vector<std::optional<std::string>> Lifeline::whereabouts(double seconds) {
  std::unique_lock lock(mutex_);
  std::ranges::fill(news_.notes, std::nullopt);
  line_.say({.kind = Report::Kind::where});
  wait_until(lock, seconds, [&, before = news_.answers] { return news_.answers > before; });
  return news_.notes;
}

void Lifeline::goodbye(int exit_code) {
  std::unique_lock lock(mutex_);
  line_.say({.kind = Report::Kind::goodbye, .number = exit_code & 255});
  changed_.wait(lock, [&] { return news_.released || lost_; });
}

void Lifeline::on_stop(std::function<void()> stop) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopped_) {
      stop_ = std::move(stop);
      return;
    }
  }
  stop();
}

void Lifeline::live(const std::stop_token& ending) {
  const std::stop_callback wakes(ending, [this] { line_.wake(); });
  std::unique_lock lock(mutex_);
  for (double next_beat = 0; !ending.stop_requested() && !lost_;) {
    if (now_seconds() >= next_beat) {
      std::unique_lock note_lock(note_mutex_);
      const Report beat{.kind = Report::Kind::beat, .text = note_};
      note_lock.unlock();
      line_.say(beat);
      next_beat = now_seconds() + seconds_between_beats;
    }
    line_.wait(lock, next_beat - now_seconds());
    const bool stops = hear();
    changed_.notify_all();
    stopped_ = stopped_ || stops;
    if (const auto stop = stops ? std::exchange(stop_, nullptr) : nullptr) {
      lock.unlock();
      stop();
      lock.lock();
    }
  }
  lock.unlock();
  if (lost_) end_alone(ending);
}

// Returns whether the rank must stop.
bool Lifeline::hear() {
  bool stops = false;
  try {
    while (const auto line = line_.next()) stops = news_.hear(read_notice(*line)) || stops;
  } catch (const Error&) {
    lost_ = true;  // not our launcher
  }
  if (line_.broken()) lost_ = true;
  return stops || (lost_ && !news_.released);
}

}  // namespace isobar::control
