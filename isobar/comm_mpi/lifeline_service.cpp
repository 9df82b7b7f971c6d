#include "isobar/comm_mpi/lifeline_service.hpp"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

#include "isobar/base/clock.hpp"
#include "isobar/comm/crew.hpp"
#include "isobar/comm_mpi/mpi_call.hpp"
#include "isobar/comm_mpi/periodic.hpp"
#include "isobar/post_mortem/flight_recorder.hpp"

namespace isobar::comm_mpi {
namespace {

constexpr double between_questions = 10;
constexpr const char* at_its_end = "has come to its end";

}  // namespace

LifelineService::LifelineService(control::Lifeline& lifeline, std::function<void()> progress)
    : Service(/*elastic=*/true, library_version()), lifeline_(lifeline), thread_(periodic(std::move(progress))) {}

// The group of all ranks, with epoch 0, is as valid as the first group: until a rank dies.
void LifelineService::check(std::uint32_t epoch) const {
  if (const auto failure = lifeline_.failure())
    throw comm::Aborted(failure->first < 0 ? failure->second
                                           : fmt::format("[rank {}] {}", failure->first, failure->second));
  if (launch_ends_) {
    const std::lock_guard lock(mutex_);
    throw comm::Aborted(why_launch_ends_);
  }
  if (std::max(epoch, comm::first_epoch) >= lifeline_.epoch()) return;
  const std::vector<int> dead = lifeline_.dead();
  throw comm::MembersChanged(dead.empty() ? std::string("all ranks muster again")
                                          : fmt::format("rank {} has died", dead.back()));
}

bool LifelineService::abort(const std::string& message) { return !launch_ends_ && lifeline_.fail(message); }

void LifelineService::note(std::string what) {
  post_mortem::flight_recorder().note(what);
  lifeline_.note(std::move(what));
}

void LifelineService::set_fate(comm::Fate fate) {
  if (fate == comm::Fate::peer) lifeline_.work_alone();
}

void LifelineService::end_of_launch(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (launch_ends_) return;
  why_launch_ends_ = why;
  launch_ends_ = true;
}

std::vector<std::optional<std::string>> LifelineService::whereabouts(const std::vector<int>& ranks, double seconds) {
  const auto notes = lifeline_.whereabouts(seconds);
  std::vector<std::optional<std::string>> all;
  for (const int rank : ranks) all.push_back(rank < std::ssize(notes) ? notes[rank] : std::nullopt);
  return all;
}

bool LifelineService::has_left(int rank) {
  {
    const std::lock_guard lock(mutex_);
    double& last = asked_whether_left_[rank];
    if (last == 0) last = now_seconds();  // true only after a mistake, so there is no hurry to find out
    if (now_seconds() - last < between_questions) return false;
    last = now_seconds();
  }
  return whereabouts({rank}, 1)[0] == at_its_end;
}

// Never calls MPI_Finalize: it would wait for dead ranks.
int LifelineService::end(int exit_code) {
  lifeline_.note(at_its_end);
  lifeline_.goodbye(exit_code);
  std::fflush(nullptr);
  _exit(exit_code);
}

}  // namespace isobar::comm_mpi
