#include "isobar/comm/stall_watch.hpp"

#include <algorithm>
#include <cstdio>

#include "isobar/base/text.hpp"

namespace isobar::comm {
namespace {

constexpr double answer_seconds = 1;  // the time a rank has to say what it is doing
constexpr double look_seconds = 0.2;
constexpr std::size_t named_ranks = 8;

std::string waits_for(const std::string& what) { return fmt::format("waits for sum '{}'", what); }

}  // namespace

StallWatch::~StallWatch() {
  if (!noted_) return;
  try {
    comm_.note(fmt::format("no longer waits for sum '{}'", what_));
  } catch (...) {  // only a note
  }
}

void StallWatch::wait(Ticket& ticket, const Missing& missing) {
  if (!comm_.view()->watches_waits()) return ticket.wait();
  while (!ticket.wait_for(look_seconds)) look(missing);
}

void StallWatch::look(const Missing& missing) {
  comm_.check();
  const double waited = comm_.now() - since_;
  if (!noted_ && waited >= std::min(0.5, options_.warn_seconds / 4)) {
    comm_.note(waits_for(what_));  // so that ranks looking for missing ones see that this one is not
    noted_ = true;
  }
  if (!warned_ && waited >= options_.warn_seconds) {
    warned_ = true;
    fmt::print(stderr, "isobar: {}; the job ends after {:g} s\n", report(waited, missing()), options_.stall_seconds);
    std::fflush(stderr);
  }
  if (waited >= options_.stall_seconds) {
    const std::string text = report(waited, missing());
    comm_.check();  // because asking the others took a while
    if (!comm_.abort(text)) comm_.check();
    throw Error(text);
  }
}

std::string StallWatch::report(double waited, const std::vector<int>& missing) {
  const auto notes = comm_.whereabouts(std::min(answer_seconds, options_.stall_seconds));
  std::vector<int> ranks = missing;
  const auto those = [&](auto wanted) {
    for (int rank = 0; rank < comm_.size() && missing.empty(); ++rank)
      if (rank != comm_.rank() && wanted(notes[static_cast<std::size_t>(rank)])) ranks.push_back(rank);
  };
  // If nothing better is known: ranks that do not answer, or else those not waiting for the same sum.
  if (ranks.empty()) those([](const auto& note) { return !note; });
  if (ranks.empty()) those([&](const auto& note) { return *note != waits_for(what_); });

  std::vector<std::string> list;
  for (const int rank : ranks) {
    if (list.size() == named_ranks) {
      list.push_back(fmt::format("{} more", ranks.size() - named_ranks));
      break;
    }
    const auto& note = notes[static_cast<std::size_t>(rank)];
    const std::string says = !note           ? "it does not answer"
                             : note->empty() ? "it says nothing"
                                             : fmt::format("it says: '{}'", one_line(*note));
    list.push_back(fmt::format("rank {} ({})", comm_.members()[static_cast<std::size_t>(rank)], says));
  }
  if (list.empty()) return fmt::format("sum '{}' waits {:.3g} s though all ranks take part", what_, waited);
  return fmt::format("sum '{}' waits {:.3g} s for {}", what_, waited, join(list, ", "));
}

}  // namespace isobar::comm
