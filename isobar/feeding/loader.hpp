// Loader: a bounded queue of batches that reader threads fill ahead, delivered in the sampler's order. Readers take
// single samples, so several can work on one large batch; which thread reads what does not affect the batches. Reading
// continues across the end of an epoch. Memory: (ahead + held) batches in one arena, which the network reads from.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "isobar/base/step_trace.hpp"
#include "isobar/datasets/dataset.hpp"
#include "isobar/datasets/sampler.hpp"
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
  StepTrace* trace =
      nullptr;  ///< where reading is recorded, one event for each batch and reader; it outlives the loader
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

  std::int64_t batches() const { return batches_; }
  /// The epoch and batch number that next() will deliver: where another loader would continue.
  std::int64_t epoch() const { return epoch_; }
  std::int64_t step() const { return step_; }
  /// Seconds that next() has waited for readers so far: the cost of reading that computation does not hide.
  double wait_seconds() const { return wait_seconds_; }
  /// Bad samples left out of the batches delivered so far, and what was wrong with the first of them.
  std::int64_t skipped() const { return skipped_; }
  const std::vector<std::string>& first_skipped() const { return first_skipped_; }
  /// Whether the memory of the batches is kept from being swapped out.
  bool locked() const { return arena_->locked(); }

 private:
  struct Slot {
    Batch batch;
    std::int64_t serial = -1;  // number, since the start, of the batch it holds or is being filled with
    std::int64_t missing = 0;  // rows not yet filled
    bool ready = false;
    std::int64_t failed_row = -1;
    std::exception_ptr error;
    std::vector<std::string> bad;  // per row: why it is left out; empty for a good one
  };

  void make_slots();
  class Recorded;
  void read_ahead();
  void stop_reading();
  void prepare(Slot& slot, std::int64_t serial) const;
  std::exception_ptr fill_row(Slot& slot, std::int64_t row) const;
  void close_up(Slot& slot) const;
  void note_skipped(Slot& slot);
  void finish_epoch();
  Slot& slot_of(std::int64_t serial) { return slots_[static_cast<std::size_t>(serial) % slots_.size()]; }

  const datasets::Dataset& dataset_;
  const datasets::Sampler sampler_;
  const LoaderOptions options_;
  const std::int64_t batches_, rows_;
  const std::uint32_t trace_name_;
  const std::int64_t limit_;   // batches to read in total
  std::int64_t epoch_, step_;  // what next() delivers
  double wait_seconds_ = 0;
  std::int64_t skipped_ = 0;
  std::int64_t epoch_rows_ = 0, epoch_skipped_ = 0;  // delivered in the current epoch
  std::vector<std::string> first_skipped_;
  std::unique_ptr<PinnedArena> arena_;
  std::shared_ptr<datasets::Fetching> fetching_;
  int exceptions_ = 0;  // in flight when this was constructed

  std::mutex mutex_;  // guards what follows; a row being filled belongs to its reader
  std::condition_variable room_, ready_;
  std::vector<Slot> slots_;
  std::int64_t claimed_ = 0, claimed_row_ = 0;  // the next row a reader takes
  std::int64_t delivered_ = 0;                  // batches handed out
  std::int64_t held_ = 0;                       // how many batches before delivered_ the caller still uses
  bool stop_ = false;
  std::vector<std::jthread> readers_;  // joined first of all members
};

}  // namespace isobar::feeding
