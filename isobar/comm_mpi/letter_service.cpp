#include "isobar/comm_mpi/letter_service.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "isobar/base/clock.hpp"
#include "isobar/comm_mpi/mpi_call.hpp"
#include "isobar/post_mortem/flight_recorder.hpp"

namespace isobar::comm_mpi {
namespace {

constexpr std::chrono::microseconds letter_interval(5000), letter_interval_waiting(200);
constexpr double patience_with_rank_0 = 1, patience_with_others = 3, patience_with_the_failed = 6;
constexpr auto patience_with_mpi = std::chrono::seconds(1);  // a thread may be inside a blocking MPI call
// Small enough for any library to send at once, whether or not the receiver is ready.
constexpr std::size_t longest_text = 2000;
constexpr int interrupted = 130;  // the program was stopped by a signal and ended normally
constexpr std::size_t head = 3 * sizeof(std::int32_t);

}  // namespace

struct LetterService::Sending {
  std::vector<char> bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};

LetterService::LetterService(MPI_Comm control, std::timed_mutex& mpi, const std::atomic<bool>& frozen, Failure& failure,
                             Witness& witness)
    : control_(control), mpi_(mpi), frozen_(frozen), failure_(failure), witness_(witness) {
  MPI_Comm_rank(control, &rank_);
  MPI_Comm_size(control, &size_);
  if (size_ > 1) thread_ = std::thread([this] { run(); });
}

LetterService::~LetterService() { stop(); }

void LetterService::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LetterService::run() {
  for (;;) {
    serve();
    listen_to_witness();
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, letter_interval, [&] { return stopping_; })) return;
  }
}

void LetterService::listen_to_witness() {
  if (const auto death = witness_.heard()) report(death->rank, death->message, true);
  if (failure_.is_set() && !witness_knows_.exchange(true)) witness_.failing();
}

// A thread inside a blocking MPI call must not keep this one from looking elsewhere.
void LetterService::serve() {
  std::vector<std::pair<int, Letter>> letters;
  {
    const std::unique_lock lock(mpi_, std::try_to_lock);
    if (!lock || frozen_) return;
    for (;;) {
      int there = 0, count = 0;
      MPI_Status status;
      if (MPI_Iprobe(MPI_ANY_SOURCE, 0, control_, &there, &status) != MPI_SUCCESS || !there) break;
      MPI_Get_count(&status, MPI_BYTE, &count);
      std::vector<char> bytes(static_cast<std::size_t>(count));
      if (MPI_Recv(bytes.data(), count, MPI_BYTE, status.MPI_SOURCE, 0, control_, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        break;
      if (bytes.size() < head) continue;
      std::int32_t numbers[3];
      std::memcpy(numbers, bytes.data(), head);
      letters.emplace_back(status.MPI_SOURCE, Letter{static_cast<Word>(numbers[0]), numbers[1], numbers[2],
                                                     std::string(bytes.begin() + head, bytes.end())});
    }
    std::erase_if(outbox_, [](Sending& sending) {
      int done = 0;
      return MPI_Test(&sending.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done;
    });
  }
  for (const auto& [from, letter] : letters) handle(from, letter);
}

void LetterService::post(int to, const Letter& letter) {
  const std::unique_lock lock(mpi_, patience_with_mpi);
  if (!lock || frozen_) return;
  Sending& sending = outbox_.emplace_back();
  const std::int32_t numbers[] = {static_cast<std::int32_t>(letter.word), letter.number, letter.flag};
  const std::string text = letter.text.substr(0, longest_text);
  sending.bytes.resize(head + text.size());
  std::memcpy(sending.bytes.data(), numbers, head);
  std::memcpy(sending.bytes.data() + head, text.data(), text.size());
  // A rank that cannot be reached is not notified: it has failed itself.
  if (MPI_Isend(sending.bytes.data(), static_cast<int>(sending.bytes.size()), MPI_BYTE, to, 0, control_,
                &sending.request) != MPI_SUCCESS)
    outbox_.pop_back();
}

// Not to a dead rank: libraries may end this one for trying.
void LetterService::post_to_others(const Letter& letter) {
  const int dead = failure_.told() ? failure_.by() : -1;
  for (int step = 1; step < size_; ++step)
    if (const int to = (rank_ + step) % size_; to != dead) post(to, letter);
}

bool LetterService::all_sent() {
  const std::unique_lock lock(mpi_, std::try_to_lock);
  return lock && outbox_.empty();
}

void LetterService::handle(int from, const Letter& letter) {
  if (letter.word == Word::propose) return decide(letter.number, letter.text, letter.flag);
  if (letter.word == Word::verdict) failure_.set(letter.number, letter.text, letter.flag);
  std::unique_lock lock(mutex_);
  switch (letter.word) {
    case Word::ask: {
      const Letter answer{Word::answer, letter.number, leaving_, note_};
      lock.unlock();
      return post(from, answer);
    }
    case Word::answer:
      if (letter.flag) left_.insert(from);
      if (const auto question = asked_.find(letter.number); question != asked_.end())
        question->second.answers[from] = letter.text;
      break;
    case Word::leaving: leaving_ranks_.insert(from); break;
    case Word::go:
      go_ = true;
      if (letter.flag) exit_code_ = letter.number;
      break;
    case Word::round: rounds_.insert(letter.number); break;
    case Word::propose:
    case Word::verdict: break;
  }
}

void LetterService::decide(int by, const std::string& text, bool told) {
  if (failure_.set(by, text, told)) post_to_others({Word::verdict, by, told, text});
}

bool LetterService::wait_until(double seconds, const std::function<bool()>& reached) {
  const double end = now_seconds() + seconds;
  for (;;) {
    if (reached()) return true;
    if (now_seconds() >= end) return false;
    serve();
    std::this_thread::sleep_for(letter_interval_waiting);
  }
}

bool LetterService::abort(const std::string& message) {
  report(rank_, fmt::format("[rank {}] {}", rank_, message), false);
  return failure_.by() == rank_;
}

void LetterService::report(int failed_rank, const std::string& message, bool told) {
  if (failure_.is_set()) return;
  if (rank_ != 0 && failed_rank != 0) {  // a dead rank 0 decides nothing
    post(0, {Word::propose, failed_rank, told, message});
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
  std::int32_t number = 0;
  std::string mine;
  {
    const std::lock_guard lock(mutex_);
    number = ++questions_;
    asked_[number];
    mine = note_;
  }
  for (const int rank : ranks)
    if (rank != rank_) post(rank, {Word::ask, number});
  const auto others = static_cast<std::size_t>(std::ranges::count_if(ranks, [&](int rank) { return rank != rank_; }));
  wait_until(seconds, [&] {
    const std::lock_guard lock(mutex_);
    return asked_[number].answers.size() == others;
  });
  const std::lock_guard lock(mutex_);
  const Question question = std::move(asked_[number]);
  asked_.erase(number);
  std::vector<std::optional<std::string>> all;
  for (const int rank : ranks) {
    const auto answer = question.answers.find(rank);
    if (rank == rank_) all.emplace_back(mine);
    else if (answer != question.answers.end()) all.emplace_back(answer->second);
    else all.emplace_back();
  }
  return all;
}

bool LetterService::has_left(int rank) {
  {
    const std::lock_guard lock(mutex_);
    if (left_.contains(rank)) return true;
    double& last = asked_whether_left_[rank];
    if (now_seconds() - last < 1) return false;
    last = now_seconds();
  }
  post(rank, {Word::ask, -1});
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
  stop();
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
  for (int distance = 1; distance < size_; distance *= 2, ++round) {
    post((rank_ + distance) % size_, {Word::round, round});
    while (!failure_.is_set() && !wait_until(1, [&] {
      const std::lock_guard lock(mutex_);
      return rounds_.contains(round) || failure_.is_set();
    })) {
    }
    if (failure_.is_set()) return;
  }
  wait_until(1, [&] { return all_sent(); });
}

// If all ranks have called, all leave with the same exit code and after MPI_Finalize. If one leaves without it, MPICH's
// launcher kills the others, and then returns a mixture of the exit codes and that signal.
std::optional<int> LetterService::end_after_failure(int exit_code) {
  const int failed = failure_.by();
  listen_to_witness();
  if (failure_.told()) {  // no rank has anything to say before all leave
    wait_until(0.2, [&] { return all_sent(); });
    return {};
  }
  std::optional<int> agreed;
  if (failed == rank_) {
    const bool all = wait_until(patience_with_others, [&] {
      const std::lock_guard lock(mutex_);
      return leaving_ranks_.size() + 1 == static_cast<std::size_t>(size_);
    });
    if (all && !frozen_) agreed = exit_code;
    post_to_others({Word::go, exit_code, agreed.has_value()});
  } else {
    post(failed, {Word::leaving});
    wait_until(patience_with_the_failed, [&] {
      const std::lock_guard lock(mutex_);
      return go_;
    });
    const std::lock_guard lock(mutex_);
    agreed = exit_code_;
  }
  wait_until(agreed ? 1 : 0.1, [&] { return all_sent(); });
  return agreed;
}

}  // namespace isobar::comm_mpi
