#include "isobar/control/lifeline.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/control/line_socket.hpp"
#include "isobar/control/shield.hpp"
#include "isobar/control/words.hpp"

namespace isobar::control {
namespace {

constexpr double seconds_between_beats = 0.5, seconds_to_connect = 20, seconds_to_answer = 5;
// Progress that comes faster than this is sent with the next step.
constexpr double seconds_between_steps = 0.02;
constexpr int exit_expelled = 130;

Address launcher_of_environment() {
  const char* text = std::getenv(address_variable);
  return read_address(text ? text : "");
}

}  // namespace

class Lifeline::Line {
 public:
  Line(int rank, const Address& launcher)
      : rank_(rank),
        socket_(connect_to(launcher.host, launcher.port, seconds_to_connect), longest_notice),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (socket_.broken())
      isobar::fail("rank {} cannot reach its launcher at {}:{}", rank, launcher.host, launcher.port);
    Report hello{.kind = Report::Kind::hello, .text = launcher.token, .rank = rank};
    hello.launch = launch_number();
    hello.pid = getpid();
    hello.host = host_name();
    socket_.send(write(hello));
    thread_ = std::thread([this] { live(); });
    std::unique_lock lock(mutex_);
    const bool heard = wait_until(lock, seconds_to_connect, [&] { return epoch_ > 0; });
    lock.unlock();
    if (heard && epoch_ > 0) return;
    end_thread();
    isobar::fail("rank {} was not accepted by the launcher at {}:{}", rank, launcher.host, launcher.port);
  }

  ~Line() {
    end_thread();
    close_descriptor(wake_);
  }

  std::uint32_t epoch() const { return epoch_; }

  void note(std::string what) {
    LastWords* words = last_words();
    const std::lock_guard lock(note_mutex_);
    if (words) {
      const std::size_t length = std::min<std::size_t>(what.size(), LastWords::longest - 1);
      std::memcpy(words->note, what.data(), length);
      words->note[length] = 0;
    }
    note_ = std::move(what);
  }

  void progress(std::int64_t step) {
    if (LastWords* words = last_words()) words->step = step;
    {
      const std::lock_guard lock(mutex_);
      unsaid_step_ = step;
      if (now_seconds() - said_step_at_ < seconds_between_steps) return;
      say_step();
    }
    wake();
  }

  void say(const Report& report) {
    {
      const std::lock_guard lock(mutex_);
      say_step();
      socket_.send(write(report));
    }
    wake();
  }

  Order await_order(std::uint32_t seen_epoch) {
    std::unique_lock lock(mutex_);
    expects(seen_epoch <= epoch_, "an epoch that the launcher has told");
    for (std::uint32_t asked = 0;;) {
      if (failure_ || lost_) return {};
      if (order_) {
        const Order order = std::move(*order_);
        order_.reset();
        said_step_at_ = 0;  // the first step after an order is sent at once: it marks the end of a recovery
        return order;
      }
      if (asked != epoch_) {
        asked = epoch_;
        say_step();
        socket_.send(write(Report{.kind = Report::Kind::ready, .epoch = asked}));
        wake();
      }
      changed_.wait(lock);
    }
  }

  bool fail_all(const std::string& message) {
    std::unique_lock lock(mutex_);
    if (!failure_ && !lost_) {
      say_step();
      socket_.send(write(Report{.kind = Report::Kind::fail, .text = message}));
      wake();
      wait_until(lock, seconds_to_answer, [&] { return failure_.has_value(); });
    }
    keep_failure(rank_, message);
    return failure_->first == rank_;
  }

  std::optional<std::pair<int, std::string>> failure() const {
    if (!failed_) return {};
    const std::lock_guard lock(mutex_);
    return failure_;
  }
  std::vector<int> dead() const {
    const std::lock_guard lock(mutex_);
    return dead_;
  }

  std::vector<std::optional<std::string>> whereabouts(double seconds) {
    std::unique_lock lock(mutex_);
    notes_.assign(ranks_, {});
    const std::uint64_t before = answers_;
    socket_.send(write(Report{.kind = Report::Kind::where}));
    wake();
    wait_until(lock, seconds, [&] { return answers_ > before; });
    return notes_;
  }

  void goodbye(int exit_code) {
    std::unique_lock lock(mutex_);
    say_step();
    socket_.send(write(Report{.kind = Report::Kind::goodbye, .number = exit_code & 255}));
    wake();
    while (!released_ && !lost_) changed_.wait(lock);
  }

  bool lost() const { return lost_; }

  void on_stop(std::function<void()> stop) {
    {
      const std::lock_guard lock(mutex_);
      if (!stopped_) {
        stop_ = std::move(stop);
        return;
      }
    }
    stop();
  }

 private:
  // Returns whether `met` became true in time, and the launcher was not lost.
  template <class F>
  bool wait_until(std::unique_lock<std::mutex>& lock, double seconds, F met) {
    return changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return met() || lost_; }) && met();
  }

  void wake() const { eventfd_write(wake_, 1); }

  // With the lock held; keeps the first failure.
  void keep_failure(int rank, const std::string& message) {
    if (!failure_) failure_ = {rank, message};
    failed_ = true;
  }

  // With the lock held.
  void say_step() {
    if (unsaid_step_ < 0) return;
    socket_.send(write(Report{.kind = Report::Kind::progress, .number = unsaid_step_}));
    unsaid_step_ = -1;
    said_step_at_ = now_seconds();
  }

  void beat() {
    std::string note;
    {
      const std::lock_guard lock(note_mutex_);
      note = note_;
    }
    const std::lock_guard lock(mutex_);
    say_step();
    socket_.send(write(Report{.kind = Report::Kind::beat, .text = note}));
  }

  void live() {
    double next_beat = now_seconds();
    while (!ending_ && !lost_) {
      if (now_seconds() >= next_beat) {
        beat();
        next_beat = now_seconds() + seconds_between_beats;
      }
      pollfd wait[] = {{socket_.descriptor(), POLLIN, 0}, {wake_, POLLIN, 0}};
      {
        const std::lock_guard lock(mutex_);
        if (socket_.sending()) wait[0].events |= POLLOUT;
      }
      poll(wait, 2, static_cast<int>(std::max(0.0, next_beat - now_seconds()) * 1e3) + 1);
      eventfd_t ignored = 0;
      if (wait[1].revents) eventfd_read(wake_, &ignored);
      listen();
    }
    if (lost_) end_alone();
  }

  void listen() {
    bool stop = false;
    {
      const std::lock_guard lock(mutex_);
      socket_.flush();
      socket_.receive();
      try {
        while (const auto line = socket_.next()) stop = obey(read_notice(*line)) || stop;
      } catch (const Error&) {
        lost_ = true;  // not our launcher
      }
      if (socket_.broken()) lost_ = true;
      stop = stop || (lost_ && !released_);
    }
    changed_.notify_all();
    if (stop) tell_stop();
  }

  void tell_stop() {
    std::function<void()> stop;
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      stop = std::exchange(stop_, nullptr);
    }
    if (stop) stop();
  }

  // With the lock held; returns whether the rank must stop.
  bool obey(Notice notice) {
    switch (notice.kind) {
      case Notice::Kind::welcome:
        epoch_ = notice.epoch;
        ranks_ = static_cast<std::size_t>(notice.rank);
        break;
      case Notice::Kind::dead:
        epoch_ = notice.epoch;
        order_.reset();
        dead_.push_back(notice.rank);
        break;
      case Notice::Kind::gone: dead_.push_back(notice.rank); break;
      case Notice::Kind::go:
        if (notice.epoch == epoch_) order_ = {Order::Kind::go, notice.epoch, std::move(notice.members)};
        break;
      case Notice::Kind::over: order_ = {Order::Kind::over, epoch_}; break;
      case Notice::Kind::relaunch:
        epoch_ = notice.epoch;
        order_ = {Order::Kind::relaunch, notice.epoch};
        break;
      case Notice::Kind::failure: keep_failure(notice.rank, notice.text); break;
      case Notice::Kind::note:
        if (notice.rank >= 0 && static_cast<std::size_t>(notice.rank) < notes_.size())
          notes_[static_cast<std::size_t>(notice.rank)] = std::move(notice.text);
        break;
      case Notice::Kind::notes: ++answers_; break;
      case Notice::Kind::leave: released_ = true; break;
      case Notice::Kind::stop: return true;
      case Notice::Kind::expelled: _exit(exit_expelled);
    }
    return false;
  }

  // A rank whose launcher is gone must end, whatever it is doing.
  void end_alone() {
    const double end = now_seconds() + longest_alone - 1;
    while (!ending_ && now_seconds() < end) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (!ending_) _exit(exit_expelled);
  }

  void end_thread() {
    ending_ = true;
    wake();
    if (thread_.joinable()) thread_.join();
  }

  const int rank_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  LineSocket socket_;
  int wake_;
  std::atomic<std::uint32_t> epoch_ = 0;
  std::atomic<bool> lost_ = false, ending_ = false, failed_ = false;
  std::optional<Order> order_;
  std::optional<std::pair<int, std::string>> failure_;
  std::vector<int> dead_;
  std::vector<std::optional<std::string>> notes_;
  std::size_t ranks_ = 0;
  std::uint64_t answers_ = 0;
  bool released_ = false, stopped_ = false;
  std::function<void()> stop_;
  std::int64_t unsaid_step_ = -1;
  double said_step_at_ = 0;
  std::mutex note_mutex_;
  std::string note_;
  std::thread thread_;
};

Lifeline::Lifeline(int rank) : Lifeline(rank, launcher_of_environment()) {}
Lifeline::Lifeline(int rank, const Address& launcher) : line_(std::make_unique<Line>(rank, launcher)) {}
Lifeline::~Lifeline() = default;

std::uint32_t Lifeline::epoch() const { return line_->epoch(); }
void Lifeline::note(std::string what) { line_->note(std::move(what)); }
void Lifeline::progress(std::int64_t step) { line_->progress(step); }
void Lifeline::folder(const std::string& path) { line_->say({.kind = Report::Kind::folder, .text = path}); }
Order Lifeline::await_order(std::uint32_t seen_epoch) { return line_->await_order(seen_epoch); }
bool Lifeline::fail(const std::string& message) { return line_->fail_all(message); }
std::optional<std::pair<int, std::string>> Lifeline::failure() const { return line_->failure(); }
std::vector<int> Lifeline::dead() const { return line_->dead(); }
std::vector<std::optional<std::string>> Lifeline::whereabouts(double seconds) { return line_->whereabouts(seconds); }
void Lifeline::give_up(const std::string& why) { line_->say({.kind = Report::Kind::give_up, .text = why}); }
void Lifeline::goodbye(int exit_code) { line_->goodbye(exit_code); }
bool Lifeline::lost() const { return line_->lost(); }
void Lifeline::on_stop(std::function<void()> stop) { line_->on_stop(std::move(stop)); }

}  // namespace isobar::control
