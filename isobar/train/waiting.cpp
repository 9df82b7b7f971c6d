#include "isobar/train/waiting.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "isobar/base/error.hpp"
#include "isobar/comm/stall_watch.hpp"

namespace isobar::train {
namespace {

constexpr double between_questions = 0.5, answer_seconds = 1;

// When every rank answered last.
class Answers {
 public:
  Answers(comm::Comm& comm, const WaitLimits& limits, std::string what)
      : comm_(comm),
        limits_(limits),
        what_(std::move(what)),
        asked_(comm.now()),
        answered_(static_cast<std::size_t>(comm.size()), asked_) {}

  void look() {
    comm_.check();
    if (comm_.now() - asked_ < std::min(limits_.warn_seconds, limits_.stall_seconds / 4)) return;
    const auto notes = comm_.whereabouts(std::min(answer_seconds, limits_.stall_seconds / 4));
    asked_ = comm_.now();
    for (int rank = 0; rank < comm_.size(); ++rank) {
      double& last = answered_[static_cast<std::size_t>(rank)];
      // Where this group goes on without a rank that has died, nobody waits for it.
      if (rank == comm_.rank() || notes[rank] || comm_.view()->has_died(comm_.members()[rank])) last = asked_;
      if (asked_ - last < limits_.stall_seconds) continue;
      const std::string text = fmt::format("rank {} has not answered for {:.3g} s, while others waited for it: {}",
                                           comm_.members()[static_cast<std::size_t>(rank)], asked_ - last, what_);
      if (!comm_.abort(text)) comm_.check();
      throw Error(text);
    }
  }

 private:
  comm::Comm& comm_;
  WaitLimits limits_;
  std::string what_;
  double asked_;
  std::vector<double> answered_;
};

// Keeps the options and text that the watch refers to.
struct Stall {
  Stall(comm::Comm& comm, const WaitLimits& limits, const std::string& text)
      : options{.warn_seconds = limits.warn_seconds, .stall_seconds = limits.stall_seconds},
        what(text),
        watch(comm, options, what) {}
  comm::ReducerOptions options;
  std::string what;
  comm::StallWatch watch;
};

}  // namespace

Look until_stalled(comm::Comm& comm, const WaitLimits& limits, const std::string& what) {
  if (comm.size() == 1) return {};
  const auto stall = std::make_shared<Stall>(comm, limits, what);
  return [stall] { stall->watch.look([] { return std::vector<int>{}; }); };
}

Look while_all_answer(comm::Comm& comm, const WaitLimits& limits, const std::string& what) {
  if (comm.size() == 1) return {};
  return [answers = std::make_shared<Answers>(comm, limits, what)] { answers->look(); };
}

Vigil::Vigil(comm::Comm& comm, const WaitLimits& limits) {
  constexpr int watchmen = 2;  // the second watches the first; more would only add messages
  if (comm.size() == 1 || comm.rank() >= watchmen) return;
  thread_ = std::jthread([look = while_all_answer(comm, limits, "the run")](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    try {
      while (!stop.stop_requested()) {
        never.wait_for(lock, stop, std::chrono::duration<double>(between_questions), [] { return false; });
        if (!stop.stop_requested()) look();
      }
    } catch (const std::exception&) {  // all waits have been notified, including those of this rank
    }
  });
}

}  // namespace isobar::train
