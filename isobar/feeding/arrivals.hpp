// Arrivals: memory for samples that have come from other ranks but have not been read, a bounded number of batches.
// One thread adds batches in order; readers take single samples, and a batch that was taken makes room for a later one.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "isobar/tensor/tensor.hpp"

namespace isobar::feeding {

class Arrivals {
 public:
  using Key = std::pair<std::int64_t, std::int64_t>;  // epoch, sample

  Arrivals(int batches, std::int64_t rows, std::size_t sample_bytes);

  /// Waits until batch `serial` can be filled; false if it is not wanted any more.
  bool wait_for_room(std::int64_t serial);
  /// Where row `row` of a batch is to be written.
  std::span<std::byte> memory_at(std::int64_t serial, std::int64_t row) const;
  /// The samples in the rows of a batch have arrived.
  void add(std::int64_t serial, std::span<const Key> samples);
  /// Waits for a sample, passes its bytes to `use`, and frees them.
  void take(const Key& key, const std::function<void(std::span<const std::byte>)>& use);

  /// Only the first `used` batches are still wanted; a take() that waits fails. Later calls have no effect.
  void end(std::int64_t used);
  bool over(std::int64_t serial) const { return serial >= wanted_; }
  /// No more samples arrive: a take() that waits throws `error`.
  void break_off(std::exception_ptr error);

 private:
  static constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();

  const std::int64_t rows_;
  const std::size_t sample_bytes_;
  const Block memory_;
  std::atomic<std::int64_t> wanted_ = all;  // batches

  std::mutex mutex_;  // guards what follows; the bytes of a row belong to the thread that fills or takes it
  std::condition_variable arrived_, room_;
  std::map<Key, std::pair<std::int64_t, std::int64_t>> places_;  // serial and row of what has not been taken
  std::vector<std::int64_t> not_taken_;                          // per batch in memory
  std::exception_ptr error_;
};

}  // namespace isobar::feeding
