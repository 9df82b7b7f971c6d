// BatchQueue: a ring of batches that readers fill ahead, row by row, and one thread takes in the order of a course.
// Several readers can work on one large batch. Memory: (ahead + held) batches in one arena, which the network reads
// from.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "isobar/datasets/dataset.hpp"
#include "isobar/feeding/pinned_arena.hpp"
#include "isobar/tensor/tensor.hpp"

namespace isobar::feeding {

/// What one rank reads for one step.
struct Batch {
  std::vector<Tensor> fields;         ///< [Sampler::rows(), field shape...]; rows from `count` on are zero
  std::vector<std::int64_t> samples;  ///< the data set's sample in each of the first `count` rows
  std::int64_t epoch = 0;
  std::int64_t step = 0;  ///< number of the batch in its epoch
  int count = 0;          ///< rows that hold samples; 0 if other ranks got the whole batch, or all were bad
  int skipped = 0;        ///< bad samples that were left out
};

/// A batch with what went wrong while it was filled.
struct QueuedBatch {
  Batch batch;
  std::vector<std::string> bad;  ///< per row: why it is left out; empty for a good one
  std::exception_ptr error;      ///< why the batch cannot be used
  std::int64_t failed_row = -1;  ///< where the error occurred
  std::atomic<std::int64_t> missing = 0;
  bool ready = false;
};

/// The rows that are not bad move together; the rest is zero.
void leave_out_bad(QueuedBatch& slot);

class BatchQueue {
 public:
  /// For at most `held` batches in use and `ahead` filled before they are needed, with these fields. `keeps_bad`: bad
  /// rows stay where they are, for who takes the batch.
  BatchQueue(const datasets::Course& course, const std::vector<datasets::Field>& fields, int ahead, int held,
             bool keeps_bad = false);

  /// A row that a reader fills; it belongs to that reader until it is handed to done().
  struct Row {
    QueuedBatch& slot;
    std::int64_t serial;  ///< of the batch, since the start
    std::int64_t row;
  };
  /// The next row to fill, or nullopt after stop(). Calls `before_waiting` if there is no room yet.
  std::optional<Row> claim(const std::function<void()>& before_waiting);
  /// A row has been filled, or noted as bad, or could not be: `error` ends the reading.
  void done(const Row& row, std::exception_ptr error);

  /// The next batch, once its rows are done; an error in one of them is thrown. Earlier batches are given back unless
  /// `keep`.
  QueuedBatch& take(bool keep);
  /// The batches taken are no longer in use.
  void give_back();
  /// No more rows are given out; those already given out may still be filled.
  void stop();

  const datasets::Course& course() const { return course_; }
  std::int64_t taken() const { return taken_; }
  double wait_seconds() const { return wait_seconds_; }
  bool locked() const { return arena_.locked(); }

 private:
  QueuedBatch& slot_of(std::int64_t serial) { return slots_[serial % slots_.size()]; }
  bool room() const;
  void prepare(QueuedBatch& slot, std::int64_t serial) const;

  const datasets::Course course_;
  const int most_held_;
  const bool keeps_bad_;
  std::vector<QueuedBatch> slots_;
  const PinnedArena arena_;
  double wait_seconds_ = 0;

  std::mutex mutex_;  // guards what follows, and whether a batch is ready
  std::condition_variable room_, ready_;
  std::int64_t claimed_ = 0;  // rows given out
  std::int64_t taken_ = 0;    // batches
  std::int64_t held_ = 0;     // how many batches before taken_ are still in use
  bool stop_ = false;
};

}  // namespace isobar::feeding
