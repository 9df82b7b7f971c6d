// Loader: a bounded queue of batches filled ahead by reader threads, delivered in the sampler's order. Readers take
// single samples, so that several help with one large batch; which thread reads what changes nothing in the batches.
// Reading goes on over the end of an epoch. Memory: (ahead + held) batches in one arena, which the network reads from.
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
  std::vector<std::int64_t> samples;  ///< the dataset's sample in each of the first `count` rows
  std::int64_t epoch = 0;
  std::int64_t step = 0;  ///< number of the batch in its epoch
  int count = 0;          ///< rows that hold samples; 0 when the other ranks got the whole batch, or all were bad
  int skipped = 0;        ///< bad samples that were left out
};

/// What happens when a sample cannot be read: the run ends, or goes on without it.
enum class OnBad { fail, skip };

/// How a loader reads, for whom, and where it begins.
struct LoaderOptions {
  int threads = 1;               ///< readers
  int ahead = 2;                 ///< batches read before they are asked for
  int held = 1;                  ///< the most batches the caller uses at a time
  int rank = 0, size = 1;        ///< this rank's slice of every global batch
  std::int64_t epoch = 0;        ///< the first epoch
  std::int64_t step = 0;         ///< the first batch in it; batches() means that the epoch is already over
  std::int64_t last_epoch = -1;  ///< reading ends before this epoch; -1: never
  bool training = false;         ///< samples vary from epoch to epoch, where the dataset does that
  /// With skip the rows of a batch close up over those that throw Error; everything else that is thrown ends the run.
  OnBad on_bad = OnBad::fail;
  StepTrace* trace =
      nullptr;  ///< where reading is recorded, one event for each batch and reader; it outlives the loader
};

/// Batches of a dataset, epoch after epoch; used by one thread.
class Loader {
 public:
  /// The dataset must outlive the loader; reading begins at once.
  Loader(const datasets::Dataset& dataset, const datasets::Sampler& sampler, const LoaderOptions& options = {});
  /// Readers finish the sample they are at, and no more.
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// The next batch, valid until the following call that does not `keep` it, or null once at the end of each epoch.
  /// What a reader threw is thrown here when its batch is due, naming the sample. Where one rank reads all, an epoch
  /// that had nothing but bad samples is an Error.
  const Batch* next(bool keep = false);

  std::int64_t batches() const { return batches_; }
  /// Epoch and batch number that next() will deliver: where another loader would go on.
  std::int64_t epoch() const { return epoch_; }
  std::int64_t step() const { return step_; }
  /// Seconds next() has waited for readers so far: what reading costs that computing does not hide.
  double wait_seconds() const { return wait_seconds_; }
  /// Bad samples left out of the batches delivered so far, and what was wrong with the first of them.
  std::int64_t skipped() const { return skipped_; }
  const std::vector<std::string>& first_skipped() const { return first_skipped_; }
  /// Whether the memory of the batches is kept from being swapped out.
  bool locked() const { return arena_->locked(); }

 private:
  struct Slot {
    Batch batch;
    std::int64_t serial = -1;  // which batch since the start it holds, or is being filled with
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
  const std::int64_t limit_;   // batches read in all
  std::int64_t epoch_, step_;  // what next() delivers
  double wait_seconds_ = 0;
  std::int64_t skipped_ = 0;
  std::int64_t epoch_rows_ = 0, epoch_skipped_ = 0;  // delivered in the epoch under way
  std::vector<std::string> first_skipped_;
  std::unique_ptr<PinnedArena> arena_;
  std::shared_ptr<datasets::Fetching> fetching_;
  int exceptions_ = 0;  // on their way when this was made

  std::mutex mutex_;  // guards what follows; a row being filled belongs to its reader
  std::condition_variable room_, ready_;
  std::vector<Slot> slots_;
  std::int64_t claimed_ = 0, claimed_row_ = 0;  // the next row a reader takes
  std::int64_t delivered_ = 0;                  // batches handed out
  std::int64_t held_ = 0;                       // the caller still uses so many of the batches before delivered_
  bool stop_ = false;
  std::vector<std::jthread> readers_;  // joined first of all members
};

}  // namespace isobar::feeding
