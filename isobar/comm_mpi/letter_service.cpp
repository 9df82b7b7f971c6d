#include "isobar/comm_mpi/letter_service.hpp"

#include <cstdio>
#include <cstdlib>
#include <limits>

#include "isobar/base/clock.hpp"
#include "isobar/comm_mpi/mpi_call.hpp"
#include "isobar/comm_mpi/periodic.hpp"
#include "isobar/post_mortem/flight_recorder.hpp"

namespace isobar::comm_mpi {
namespace {

constexpr std::chrono::microseconds letter_interval_waiting(200);
constexpr double patience_with_rank_0 = 1, patience_with_others = 3, patience_with_the_failed = 6;
constexpr double without_limit = std::numeric_limits<double>::infinity();
constexpr int interrupted = 130;  // the program was stopped by a signal and ended normally
using Word = Letter::Word;

}  // namespace

LetterService::LetterService(MPI_Comm communicator, MpiGate& mpi, Failure& failure, Witness& witness)
    : Service(/*elastic=*/false, library_version()), letters_(communicator, mpi), failure_(failure), witness_(witness) {
  if (letters_.size() == 1) return;
  thread_ = periodic([this] {
    serve();
    listen_to_witness();
  });
}

void LetterService::listen_to_witness() {
  if (const auto death = witness_.heard()) report(death->rank, death->message, true);
  if (failure_.is_set()) witness_.failing();
}

void LetterService::serve() {
  for (const Letter& letter : letters_.collect()) handle(letter);
}

// Not to a dead rank: libraries may end this one for trying.
void LetterService::post_to_others(const Letter& letter) {
  const int dead = failure_.told() ? failure_.by() : -1;
  for (int step = 1; step < letters_.size(); ++step)
    if (const int to = (letters_.rank() + step) % letters_.size(); to != dead) letters_.post(to, letter);
}

void LetterService::handle(const Letter& letter) {
  if (letter.word == Word::propose) return decide(letter.number, letter.text, letter.flag);
  if (letter.word == Word::verdict) failure_.set(letter.number, letter.text, letter.flag);
  std::unique_lock lock(mutex_);
  switch (letter.word) {
    case Word::ask: {
      const Letter answer{Word::answer, letter.number, leaving_, note_};
      lock.unlock();
      return letters_.post(letter.from, answer);
    }
    case Word::answer:
      if (letter.flag) heard_.left.insert(letter.from);
      if (const auto question = heard_.answers.find(letter.number); question != heard_.answers.end())
        question->second[letter.from] = letter.text;
      break;
    case Word::leaving: heard_.leaving.insert(letter.from); break;
    case Word::go:
      heard_.go = true;
      if (letter.flag) heard_.exit_code = letter.number;
      break;
    case Word::round: heard_.rounds.insert(letter.number); break;
    case Word::propose:
    case Word::verdict: break;
  }
}

void LetterService::decide(int by, const std::string& text, bool told) {
  if (failure_.set(by, text, told)) post_to_others({Word::verdict, by, told, text});
}

// Calls `reached` with the lock held.
bool LetterService::wait_until(double seconds, const std::function<bool()>& reached) {
  for (const double end = now_seconds() + seconds;;) {
    if (const std::lock_guard lock(mutex_); reached()) return true;
    if (now_seconds() >= end) return false;
    serve();
    std::this_thread::sleep_for(letter_interval_waiting);
  }
}

bool LetterService::abort(const std::string& message) {
  report(letters_.rank(), fmt::format("[rank {}] {}", letters_.rank(), message), false);
  return failure_.by() == letters_.rank();
}

void LetterService::report(int failed_rank, const std::string& message, bool told) {
  if (failure_.is_set()) return;
  if (letters_.rank() != 0 && failed_rank != 0) {  // a dead rank 0 decides nothing
    letters_.post(0, {Word::propose, failed_rank, told, message});
    wait_until(patience_with_rank_0, [&] { return failure_.is_set(); });
  }
  decide(failed_rank, message, told);
}

void LetterService::note(std::string what) {
  post_mortem::flight_recorder().note(what);
  witness_.note(what);
  const std::lock_guard lock(mutex_);
  note_ = std::move(what);
}

std::vector<std::optional<std::string>> LetterService::whereabouts(const std::vector<int>& ranks, double seconds) {
  std::unique_lock lock(mutex_);
  const std::int32_t number = ++questions_;
  auto& answers = heard_.answers[number];
  for (const int rank : ranks)
    if (rank == letters_.rank()) answers[rank] = note_;
  lock.unlock();
  for (const int rank : ranks)
    if (rank != letters_.rank()) letters_.post(rank, {Word::ask, number});
  wait_until(seconds, [&] { return answers.size() == ranks.size(); });
  lock.lock();
  std::vector<std::optional<std::string>> all;
  for (const int rank : ranks) {
    const auto answer = answers.find(rank);
    all.push_back(answer == answers.end() ? std::nullopt : std::optional(answer->second));
  }
  heard_.answers.erase(number);
  return all;
}

bool LetterService::has_left(int rank) {
  {
    const std::lock_guard lock(mutex_);
    if (heard_.left.contains(rank)) return true;
    double& last = asked_whether_left_[rank];
    if (now_seconds() - last < 1) return false;
    last = now_seconds();
  }
  letters_.post(rank, {Word::ask, -1});
  return false;
}

int LetterService::end(int exit_code) {
  if (exit_code != 0 && exit_code != interrupted && !failure_.is_set())
    abort(fmt::format("ended with exit code {}", exit_code));
  if (!failure_.is_set()) end_together();
  if (failure_.is_set()) {
    const std::optional<int> agreed = end_after_failure(exit_code == 0 ? 1 : exit_code);
    if (!agreed) {
      std::fflush(nullptr);
      std::_Exit(exit_code == 0 ? 1 : exit_code);
    }
    exit_code = *agreed;
  }
  thread_ = {};
  witness_.goodbye();
  return exit_code;
}

// A dissemination barrier. Letters carry only the round: a world ends only once.
void LetterService::end_together() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  std::int32_t round = 0;
  for (int distance = 1; distance < letters_.size(); distance *= 2, ++round) {
    letters_.post((letters_.rank() + distance) % letters_.size(), {Word::round, round});
    wait_until(without_limit, [&] { return heard_.rounds.contains(round) || failure_.is_set(); });
    if (failure_.is_set()) return;
  }
  wait_until(1, [&] { return letters_.all_sent(); });
}

// If all ranks have called, all leave with the same exit code and after MPI_Finalize. If one leaves without it, MPICH's
// launcher kills the others, and then returns a mixture of the exit codes and that signal.
std::optional<int> LetterService::end_after_failure(int exit_code) {
  const int failed = failure_.by();
  listen_to_witness();
  if (failure_.told()) {  // no rank has anything to say before all leave
    wait_until(0.2, [&] { return letters_.all_sent(); });
    return {};
  }
  std::optional<int> agreed;
  if (failed == letters_.rank()) {
    const bool all =
        wait_until(patience_with_others, [&] { return std::ssize(heard_.leaving) + 1 == letters_.size(); });
    if (all && letters_.works()) agreed = exit_code;
    post_to_others({Word::go, exit_code, agreed.has_value()});
  } else {
    letters_.post(failed, {Word::leaving});
    wait_until(patience_with_the_failed, [&] { return heard_.go; });
    const std::lock_guard lock(mutex_);
    agreed = heard_.exit_code;
  }
  wait_until(agreed ? 1 : 0.1, [&] { return letters_.all_sent(); });
  return agreed;
}

}  // namespace isobar::comm_mpi
