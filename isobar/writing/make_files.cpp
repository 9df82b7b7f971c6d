#include "isobar/writing/make_files.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "isobar/base/error.hpp"

namespace isobar::writing {

FilesMade make_files(const FilesToMake& what,
                     const std::function<void(std::size_t task, const std::function<bool()>& made)>& work) {
  FilesMade result{.kept = what.kept};
  std::mutex mutex;  // guards result, error and the calls of progress
  std::exception_ptr error;
  std::atomic<std::size_t> taken = 0;
  std::atomic<bool> failed = false;
  const auto ended = [&] { return failed.load() || (what.stop && what.stop->load()); };
  if (what.progress) what.progress(result.kept, what.total);
  const std::function<bool()> made = [&] {
    const std::lock_guard lock(mutex);
    ++result.written;
    if (what.progress) what.progress(result.kept + result.written, what.total);
    return !ended();
  };
  const auto take = [&] {
    try {
      for (std::size_t task = taken++; task < what.tasks && !ended(); task = taken++) work(task, made);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      failed = true;
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min<std::size_t>(what.tasks, what.threads); ++i) others.emplace_back(take);
    take();
  }
  if (error) std::rethrow_exception(error);
  result.complete = result.kept + result.written == what.total;
  return result;
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) fail("{}: the folder cannot be made: {}", folder.string(), code.message());
}

int threads_for_files(int wanted) {
  return wanted > 0 ? wanted : std::max<int>(1, std::thread::hardware_concurrency());
}

}  // namespace isobar::writing
