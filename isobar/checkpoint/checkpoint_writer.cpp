#include "isobar/checkpoint/checkpoint_writer.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/disk/disk_error.hpp"
#include "isobar/disk/durable_file.hpp"
#include "isobar/disk/output_file.hpp"

namespace isobar::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr auto patience = std::chrono::seconds(10);
// Below the threads that compute, but not so far that it starves if they never sleep.
constexpr int niceness = 5;

// Gives a file a second name; false if the file system does not support that.
bool link_as(const fs::path& file, const fs::path& name) {
  const fs::path between = disk::temporary_beside(name);
  std::error_code problem;
  fs::create_hard_link(file, between, problem);
  if (problem) return false;
  fs::rename(between, name, problem);
  if (!problem) return disk::sync_to_disk(name.parent_path()), true;
  std::error_code ignored;
  fs::remove(between, ignored);
  return false;
}

}  // namespace

struct CheckpointWriter::State {
  State(CheckpointShelf where, Write how) : shelf(std::move(where)), write(std::move(how)) {}

  // Never throws: any failure is an outcome.
  SaveOutcome save() noexcept {
    SaveOutcome outcome{as.step ? shelf.file_of(draft.position.step) : shelf.best_file(), draft.position.step};
    const double begin = now_seconds();
    try {
      outcome.bytes = static_cast<double>(write(outcome.file, draft));
      if (as.step && as.best && !link_as(outcome.file, shelf.best_file())) write(shelf.best_file(), draft);
      if (as.step) shelf.prune(draft.position.step);
    } catch (const disk::DiskError& error) {
      outcome.problem = error.what();
      outcome.cause = error.cause();
    } catch (const std::exception& error) {
      outcome.problem = outcome.cause = error.what();
    }
    outcome.write_seconds = now_seconds() - begin;
    return outcome;
  }

  // Called with the mutex held.
  void end(SaveOutcome outcome) {
    outcomes.push_back(std::move(outcome));
    news = true;
    busy = false;
  }

  void work() {
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), niceness);
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return busy || closing; });
      if (!busy) break;
      lock.unlock();
      SaveOutcome outcome = save();
      lock.lock();
      end(std::move(outcome));
      changed.notify_all();
    }
    ended = true;
    changed.notify_all();
  }

  CheckpointShelf shelf;
  Write write;
  Snapshot draft;  // belongs to the thread while busy, to the owner otherwise
  SaveAs as;
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> busy = false, news = false;  // set with the mutex held
  bool closing = false, ended = false;
  std::vector<SaveOutcome> outcomes;
};

CheckpointWriter::CheckpointWriter(const CheckpointShelf& shelf, bool background, Write write)
    : state_(std::make_shared<State>(shelf, std::move(write))), background_(background) {
  if (background_) std::thread([state = state_] { state->work(); }).detach();
}

CheckpointWriter::~CheckpointWriter() {
  if (!background_) return;
  std::unique_lock lock(state_->mutex);
  state_->closing = true;
  state_->changed.notify_all();
  if (!released_) state_->changed.wait_for(lock, patience, [&] { return state_->ended; });
}

// Called at every step, without the mutex: the thread might hold it while waiting for a core.
bool CheckpointWriter::busy() const { return state_->busy; }

Snapshot& CheckpointWriter::draft() {
  expects(!busy(), "a draft that is not being written");
  return state_->draft;
}

void CheckpointWriter::start(SaveAs as) {
  expects(as.step || as.best, "a name to save under");
  std::unique_lock lock(state_->mutex);
  expects(!state_->busy, "one at a time");
  state_->as = as;
  if (!background_) return state_->end(state_->save());
  state_->busy = true;
  state_->changed.notify_all();
}

void CheckpointWriter::wait() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return !state_->busy; });
}

std::vector<SaveOutcome> CheckpointWriter::outcomes() {
  if (!state_->news) return {};
  const std::lock_guard lock(state_->mutex);
  state_->news = false;
  return std::exchange(state_->outcomes, {});
}

}  // namespace isobar::checkpoint
