// Making many files with many threads: tasks are taken one after another, progress is reported, a stop or a failure
// ends them all. Shared by the writers of worlds.
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

/// Called with the number of files made and of all files, by one thread at a time.
using FileProgress = std::function<void(std::int64_t done, std::int64_t all)>;

/// A set of files to make: `kept` of `total` exist already.
struct FilesToMake {
  std::size_t tasks = 0;  ///< each makes one file or several
  int threads = 1;
  std::int64_t kept = 0, total = 0;
  FileProgress progress{};
  const std::atomic<bool>* stop = nullptr;
};

/// Runs `work(task, made)` for every task. `work` calls `made()` after each file it wrote, and returns if that returns
/// false. The first exception ends everything and is rethrown.
FilesMade make_files(const FilesToMake& what,
                     const std::function<void(std::size_t task, const std::function<bool()>& made)>& work);

/// Makes a folder and its parents.
void make_folder(const std::filesystem::path& folder);

/// `wanted`, or the number of processors if it is 0.
int threads_for_files(int wanted);

}  // namespace isobar::writing
