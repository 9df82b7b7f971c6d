// Making many files with many threads: tasks are taken one after another, progress is told, a stop or a failure ends
// all. Writers of worlds share it.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>

namespace isobar::writing {

/// What was done: `complete` is false after a stop.
struct FilesMade {
  std::int64_t written = 0, kept = 0;
  bool complete = true;
};

/// Told how many files are there and how many there will be, by one thread at a time.
using FileProgress = std::function<void(std::int64_t done, std::int64_t all)>;

/// A set of files under way: `kept` of `total` are there already.
struct FilesToMake {
  std::size_t tasks = 0;  ///< each makes one file or several
  int threads = 1;
  std::int64_t kept = 0, total = 0;
  FileProgress progress{};
  const std::atomic<bool>* stop = nullptr;
};

/// Runs `work(task, made)` for every task. It calls `made()` after each file it wrote, and returns when that says
/// false. The first thing thrown ends all and is thrown again.
FilesMade make_files(const FilesToMake& what,
                     const std::function<void(std::size_t task, const std::function<bool()>& made)>& work);

/// Makes a folder and those above it.
void make_folder(const std::filesystem::path& folder);

/// `wanted`, or as many threads as there are processors when it is 0.
int threads_for_files(int wanted);

}  // namespace isobar::writing
