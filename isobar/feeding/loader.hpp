// Loader: batches of a data set that a team of threads reads ahead, delivered in the sampler's order. Readers take
// single samples; which thread reads what does not affect the batches. Reading continues across the end of an epoch.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "isobar/base/step_trace.hpp"
#include "isobar/datasets/dataset.hpp"
#include "isobar/feeding/batch_queue.hpp"

namespace isobar::feeding {

/// What happens if a sample cannot be read: the run fails, or continues without it.
enum class OnBad { fail, skip };

/// How a loader reads, for which rank, and where it begins.
struct LoaderOptions {
  int threads = 1;               ///< readers
  int ahead = 2;                 ///< batches read before they are needed
  int held = 1;                  ///< the most batches the caller uses at a time
  int rank = 0, size = 1;        ///< this rank's slice of every global batch
  std::int64_t epoch = 0;        ///< the first epoch
  std::int64_t step = 0;         ///< the first batch in it; batches() means that the epoch is already over
  std::int64_t last_epoch = -1;  ///< reading ends before this epoch; -1: never
  bool training = false;         ///< samples vary from epoch to epoch, if the data set supports it
  /// With skip, samples that throw Error are left out and the rows of their batch close up; any other exception ends
  /// the run.
  OnBad on_bad = OnBad::fail;
  /// With skip, where several ranks read parts of the same samples: called by next() with the reason why each row of a
  /// batch is left out, empty for a good row, to make them the same on all these ranks. Empty: nobody else reads them.
  std::function<void(std::span<std::string> bad)> agree{};
  /// Where reading is recorded, one event for each batch and reader; it outlives the loader.
  StepTrace* trace = nullptr;
};

/// Batches of a data set, epoch after epoch; used by one thread.
class Loader {
 public:
  /// The data set must outlive the loader; reading begins at once.
  Loader(const datasets::Dataset& dataset, const datasets::Sampler& sampler, const LoaderOptions& options = {});
  /// Readers finish only the sample they are reading.
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// The next batch, valid until the next call that does not `keep` it, or null once at the end of each epoch. An
  /// exception of a reader is thrown here when its batch is due, naming the sample. If one rank reads everything, an
  /// epoch with nothing but bad samples is an Error.
  const Batch* next(bool keep = false);

  std::int64_t batches() const { return queue_.course().sampler.batches(); }
  /// The epoch and batch number that next() will deliver: where another loader would continue.
  std::int64_t epoch() const { return next_.epoch; }
  std::int64_t step() const { return next_.step; }
  /// Seconds that next() has waited for readers so far: the cost of reading that computation does not hide.
  double wait_seconds() const { return queue_.wait_seconds(); }
  /// Bad samples left out of the batches delivered so far, and what was wrong with the first of them.
  std::int64_t skipped() const { return skipped_; }
  const std::vector<std::string>& first_skipped() const { return first_skipped_; }
  /// Bytes that the readers have read from files so far, as isobar/files/read_count.hpp counts them.
  std::int64_t bytes_read() const { return bytes_read_; }
  /// Whether the memory of the batches is kept from being swapped out.
  bool locked() const { return queue_.locked(); }

 private:
  class Recorded;
  void read_ahead(std::uint32_t trace_name);
  void read_row(const BatchQueue::Row& claimed) const;
  const QueuedBatch& take(bool keep);
  void finish_epoch();
  void stop_reading();

  const datasets::Dataset& dataset_;
  const LoaderOptions options_;
  BatchQueue queue_;
  datasets::Course::Place next_;  // what next() delivers
  std::int64_t skipped_ = 0;
  std::int64_t epoch_rows_ = 0, epoch_skipped_ = 0;  // delivered in the current epoch
  std::vector<std::string> first_skipped_;
  const int exceptions_;  // in flight when this was constructed
  mutable std::atomic<std::int64_t> bytes_read_ = 0;
  std::shared_ptr<datasets::Fetching> fetching_;
  std::vector<std::jthread> readers_;  // joined first of all members
};

}  // namespace isobar::feeding
