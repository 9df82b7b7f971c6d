// Sampler: which samples a rank reads, as a pure function of (seed, epoch, batch, rank, size). The global order of an
// epoch, and so every global batch, is the same for any number of ranks; ranks share a batch in contiguous slices.
#pragma once

#include <cstdint>
#include <vector>

namespace isobar::datasets {

/// The order of `count` samples in every epoch, cut into global batches.
struct Sampler {
  std::int64_t count = 0;  ///< samples in the data set
  std::int64_t batch = 1;  ///< samples in a global batch, summed over the ranks
  std::uint64_t seed = 1;
  bool shuffle = true;
  bool drop_last = false;         ///< leave out a last batch that is not full; otherwise it is shorter
  std::int64_t most_batches = 0;  ///< per epoch, where ranks read different sets and the smallest counts; 0: no limit
  /// If true, a last batch that is not full is dealt out in slices of rows(), like full ones, until it is used up;
  /// slices are then the same for any number of ranks with as many rows each. Otherwise all ranks share it evenly.
  bool full_slices = false;

  /// Throws UsageError if the numbers do not give a single batch.
  void check() const;

  /// Batches per epoch, equal on all ranks.
  std::int64_t batches() const;

  /// The sample at a position of an epoch's global order.
  std::int64_t sample(std::int64_t epoch, std::int64_t position) const;

  /// The positions [first, last) of the global order that `rank` of `size` reads for a batch; may be empty.
  struct Slice {
    std::int64_t first, last;
  };
  Slice slice(std::int64_t batch_index, int rank, int size) const;

  /// The most rows a slice can have: how much memory to reserve.
  std::int64_t rows(int size) const { return (batch + size - 1) / size; }

  /// The samples `rank` of `size` reads for a batch, in order.
  std::vector<std::int64_t> samples(std::int64_t epoch, std::int64_t batch_index, int rank, int size) const;
};

/// The order in which one rank will read: its slices of a sampler's batches, from some batch on.
struct Course {
  Sampler sampler;
  int rank = 0, size = 1;
  std::int64_t epoch = 0, step = 0;  ///< where it begins
  std::int64_t last_epoch = -1;      ///< where it ends: before this epoch; -1: never

  /// Its batches in all epochs.
  std::int64_t length() const;
  /// An epoch, and the number of a batch in it.
  struct Place {
    std::int64_t epoch, step;
  };
  /// Where its batch number `serial` is, from 0 on.
  Place at(std::int64_t serial) const;
  /// The most rows of a batch.
  std::int64_t rows() const { return sampler.rows(size); }
};

}  // namespace isobar::datasets
