// FileCache: opened or unpacked files shared by reader threads: the most recently used are kept, within a number of
// bytes. The first thread that needs a file opens it; others that want the same file wait, the rest continue.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace isobar::datasets {

/// T has held_bytes(). In addition to the cache, every thread holds the file it is reading.
template <class T>
class FileCache {
 public:
  FileCache(std::int64_t max_bytes, std::size_t max_files) : max_bytes_(max_bytes), max_files_(max_files) {}

  /// File number `file`, made by `make` if it is not cached; an exception from `make` reaches all threads that waited
  /// for it.
  std::shared_ptr<const T> get(std::size_t file, const std::function<std::shared_ptr<const T>()>& make) {
    std::promise<std::shared_ptr<const T>> promise;
    {
      std::unique_lock lock(mutex_);
      if (const auto found = entries_.find(file); found != entries_.end()) {
        order_.splice(order_.begin(), order_, found->second.place);
        const auto waited_for = found->second.made;
        lock.unlock();
        return waited_for.get();
      }
      order_.push_front(file);
      entries_.emplace(file, Entry{promise.get_future().share(), order_.begin(), 0});
    }
    try {
      std::shared_ptr<const T> made = make();
      promise.set_value(made);
      keep(file, made->held_bytes());
      return made;
    } catch (...) {
      promise.set_exception(std::current_exception());
      const std::lock_guard lock(mutex_);
      drop(file);
      throw;
    }
  }

 private:
  struct Entry {
    std::shared_future<std::shared_ptr<const T>> made;
    std::list<std::size_t>::iterator place;
    std::int64_t bytes;
  };

  void keep(std::size_t file, std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (const auto found = entries_.find(file); found != entries_.end()) {
      found->second.bytes = bytes;
      bytes_ += bytes;
    }
    while (!order_.empty() && (bytes_ > max_bytes_ || entries_.size() > max_files_)) drop(order_.back());
  }

  void drop(std::size_t file) {
    const auto found = entries_.find(file);
    if (found == entries_.end()) return;
    bytes_ -= found->second.bytes;
    order_.erase(found->second.place);
    entries_.erase(found);
  }

  std::int64_t max_bytes_, bytes_ = 0;
  std::size_t max_files_;
  std::mutex mutex_;
  std::list<std::size_t> order_;  // most recently used first
  std::unordered_map<std::size_t, Entry> entries_;
};

}  // namespace isobar::datasets
