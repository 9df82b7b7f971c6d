#include "isobar/disk/late_state.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <new>
#include <thread>
#include <utility>

namespace isobar::disk {

using namespace std::chrono_literals;

static constexpr std::size_t most_at_once = 1 << 16;

LateState::LateState(std::filesystem::path file, std::unique_ptr<LateTarget> to, LateOptions chosen)
    : path(std::move(file)),
      options(std::move(chosen)),
      warnings(options.warnings ? *options.warnings : disk_warnings()),
      target(std::move(to)) {}

void LateState::add(LatePiece piece) {
  const std::lock_guard lock(mutex);
  const auto forget = [&](std::size_t i, bool lost) {
    pending_bytes -= pieces[i].text.size();
    if (pieces[i].kind == LatePiece::Kind::piece) length -= std::ssize(pieces[i].text);
    pieces.erase(pieces.begin() + i);
    ++settled;
    if (lost) ++dropped;
  };
  if (piece.kind == LatePiece::Kind::whole) {
    while (pieces.size() > in_flight) forget(pieces.size() - 1, false);
    length = 0;
  }
  piece.vital = piece.kind != LatePiece::Kind::piece || length == 0;
  if (piece.kind != LatePiece::Kind::first_line) length += std::ssize(piece.text);
  pending_bytes += piece.text.size();
  pieces.push_back(std::move(piece));
  ++added;
  // The newest piece stays: even if it exceeds the bound by itself, it is written if possible.
  for (std::size_t i = in_flight; pending_bytes > options.most_bytes && i + 1 < pieces.size();)
    if (pieces[i].vital) ++i;
    else forget(i, true);
}

int LateState::reopen() {
  std::int64_t kept = written;
  const int problem = target->open(kept);
  if (problem == 0) open = true, written = kept;
  return problem;
}

// Writes the first `count` pieces: lines, or a single piece of another kind.
int LateState::write_pieces(std::size_t count) {
  std::string bytes;
  LatePiece::Kind kind{};
  {
    const std::lock_guard lock(mutex);
    kind = pieces.front().kind;
    for (std::size_t i = 0; i < count; ++i) bytes += pieces[i].text;
  }
  if (kind != LatePiece::Kind::whole && !open)
    if (const int problem = reopen(); problem != 0) return problem;
  int problem = 0;
  if (kind == LatePiece::Kind::piece) {
    problem = target->write(written, bytes, options.tail);
    if (problem == 0) written += std::ssize(bytes);
  } else {
    if (kind == LatePiece::Kind::first_line) {
      std::string before;
      problem = target->read(written, before);
      const std::size_t first = before.find('\n');
      if (first != before.npos) bytes += before.substr(first + 1);
    }
    if (problem == 0) problem = target->replace(bytes);
    if (problem == 0) open = true, written = std::ssize(bytes);
  }
  // A full disk leaves the file usable; after any other error it is reopened, and continues at its end.
  if (problem != 0 && problem != ENOSPC && problem != EDQUOT) open = false;
  return problem;
}

int LateState::write_out() {
  int problem = 0;
  {
    const std::lock_guard lock(mutex);
    busy = true;
  }
  while (problem == 0) {
    std::size_t count = 0;
    {
      const std::lock_guard lock(mutex);
      if (pieces.empty()) break;
      std::size_t bytes = 0;
      if (pieces.front().kind != LatePiece::Kind::piece) count = 1;
      else
        while (count < pieces.size() && pieces[count].kind == LatePiece::Kind::piece &&
               (count == 0 || bytes + pieces[count].text.size() <= most_at_once))
          bytes += pieces[count++].text.size();
      in_flight = count;
    }
    try {
      problem = write_pieces(count);
    } catch (const std::bad_alloc&) {
      problem = ENOMEM;  // may pass, like a full disk
    }
    const std::lock_guard lock(mutex);
    in_flight = 0;
    if (problem != 0) break;
    for (std::size_t i = 0; i < count; ++i) {
      pending_bytes -= pieces.front().text.size();
      pieces.pop_front();
    }
    settled += count;
  }
  tell(problem);
  const std::lock_guard lock(mutex);
  error = problem;
  ++tries;
  busy = false;
  // The real end of the file, after others truncated or removed it.
  if (problem == 0 && pieces.empty()) length = written;
  changed.notify_all();
  return problem;
}

void LateState::tell(int problem) {
  std::int64_t lost = 0;
  if (problem == 0) {
    const std::lock_guard lock(mutex);
    lost = std::exchange(dropped, 0);
  }
  if (problem != 0) warnings.failed(path, disk_cause(problem));
  else warnings.wrote(path, lost);
}

LateWriter& LateWriter::instance() {
  static auto* const writer = new LateWriter;
  return *writer;
}

LateWriter::LateWriter() {
  // Signals are for the threads that do the main work.
  sigset_t stops, before;
  sigemptyset(&stops);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaddset(&stops, signal);
  pthread_sigmask(SIG_BLOCK, &stops, &before);
  std::thread([this] { serve(); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void LateWriter::add(const std::shared_ptr<LateState>& state) {
  const std::lock_guard lock(mutex_);
  states_.push_back(state);
}

void LateWriter::wake(bool urgent) {
  const std::lock_guard lock(mutex_);
  if (urgent_ || (work_ && !urgent)) return;
  work_ = true;
  urgent_ = urgent;
  wake_.notify_one();
}

bool LateWriter::hangs() const {
  const std::lock_guard lock(mutex_);
  return hangs_;
}

void LateWriter::note_hang() {
  const std::lock_guard lock(mutex_);
  hangs_ = true;
}

bool LateWriter::flush(double seconds) {
  std::unique_lock lock(mutex_);
  const std::int64_t wanted = begun_ + 1;
  urgent_ = true;
  wake_.notify_one();
  return round_over_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return over_ >= wanted; });
}

void LateWriter::serve() {
  constexpr auto between = 50ms, before_next_try = 500ms;
  bool again = false;
  for (auto last = std::chrono::steady_clock::now();; last = std::chrono::steady_clock::now()) {
    std::vector<std::shared_ptr<LateState>> states;
    {
      std::unique_lock lock(mutex_);
      const auto needed = [&] { return work_ || urgent_; };
      if (again) wake_.wait_until(lock, last + before_next_try, [&] { return urgent_; });
      else wake_.wait(lock, needed);
      wake_.wait_until(lock, last + between, [&] { return urgent_; });
      work_ = urgent_ = false;
      ++begun_;
      states = states_;
    }
    again = write_round(std::move(states));
  }
}

// Returns whether something could not be written.
bool LateWriter::write_round(std::vector<std::shared_ptr<LateState>> states) {
  bool failed = false;
  std::vector<std::shared_ptr<LateState>> gone;
  for (std::shared_ptr<LateState>& state : states) {
    bool closed = false, left = false, needed = false;
    {
      const std::lock_guard lock(state->mutex);
      closed = state->closed;
      left = state->left;
      needed = !state->pieces.empty() && !closed;
    }
    if (needed && state->write_out() != 0) failed = true;
    else if (left) closed = true;
    if (closed) gone.push_back(std::move(state));
  }
  states.clear();
  {
    const std::lock_guard lock(mutex_);
    hangs_ = false;
    ++over_;
    for (const auto& state : gone) std::erase(states_, state);
    round_over_.notify_all();
  }
  for (const auto& state : gone) state->target.reset();
  return failed;
}

}  // namespace isobar::disk
