// Snapshot: everything a checkpoint holds, copied into memory in plain layout: training continues while it is written,
// and can go back to it. It is this rank's state between two steps; only what ranks collect for themselves (running
// statistics, and what a strategy says) differs from rank to rank.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "isobar/exec/param_store.hpp"
#include "isobar/exec/state_block.hpp"

namespace isobar::checkpoint {

/// Where a run is; everything else follows from the recipe.
struct Position {
  std::int64_t step = 0;           ///< steps done in the whole run
  std::int64_t epoch = 0;          ///< epochs finished
  std::int64_t step_in_epoch = 0;  ///< global batches trained on in the current epoch
  double loss_sum = 0;             ///< of the current epoch, over samples
  std::int64_t loss_samples = 0;
  std::int64_t skipped = 0;       ///< bad samples left out in the current epoch
  std::int64_t batch = 0;         ///< samples of a global batch; 0: not known
  std::int64_t rows = 0;          ///< samples the network computes at a time on one rank; 0: not known
  double rate_scale = 1;          ///< of the learning rate, smaller after the run went back because of bad numbers
  std::int64_t bad_steps = 0;     ///< steps with numbers that were not finite, in the whole run
  std::int64_t rewinds = 0;       ///< how often the run went back to an earlier state because of them
  std::int64_t bad_in_a_row = 0;  ///< of the last steps, how many had such numbers
  std::int64_t undone = 0;        ///< steps whose updates are not in the weights because the run went back

  /// Ends the current epoch: counters within an epoch are reset.
  void finish_epoch();
  bool operator==(const Position&) const = default;
};

struct Snapshot {
  /// One array: "weights/NAME", "slots/0/NAME", or of a strategy's block, "kept/BLOCK/NAME".
  struct Part {
    std::string name;
    Shape shape;
    std::size_t first = 0;  ///< of its numbers in `numbers`
    std::size_t count = 0;
  };

  /// Pieces of one whole that a rank has: numbers of all weights in plain layout, one weight after the other.
  struct OwnPieces {
    std::string name;
    std::vector<exec::StateBlock::Cut> cuts{};  ///< in plain layout
    std::vector<float> numbers{};
  };
  /// Whose is what ranks have for themselves: of all of them in a checkpoint, of this one, or of nobody when the
  /// snapshot came from another rank.
  enum class Whose { all, this_rank, nobody };

  std::string origin = "the state in memory";  ///< for messages: "checkpoint 'runs/a/checkpoints/step_000120.h5'"
  Position position{};
  std::uint64_t seed = 0;  ///< of all random numbers: each is addressed by it and by the position
  std::string recipe{};    ///< resolved, as TOML
  std::string plan{};      ///< its fingerprint, on the rank that wrote it
  std::string metrics{};   ///< one line of JSON for every epoch so far
  double best = std::numeric_limits<double>::quiet_NaN();  ///< of the metric that best.h5 follows; NaN: none yet
  int slots = 0;                                           ///< of the optimizer, for every weight
  std::vector<Part> parts{};
  std::vector<float> numbers{};
  std::vector<double> kept_numbers{};  ///< lists of a strategy, once, which others must not drop
  int ranks = 1;                       ///< whose own state follows, rank by rank
  std::vector<float> statistics{};     ///< running statistics as collected by each rank, in the order of weights
  std::vector<double> own_numbers{};   ///< lists of a strategy that each rank has for itself and others may drop
  /// Arrays that each rank has for itself, in plain layout, in the order of weights.
  struct OwnArray {
    std::string name;
    std::vector<float> numbers{};
    bool may_drop = true;
  };
  std::vector<OwnArray> own_arrays{};
  struct List {
    std::string name;
    std::vector<double> numbers{};
  };
  std::vector<List> lists{};        ///< of a strategy, once, which others may drop
  std::vector<List> own_lists{};    ///< of each rank, which others must not drop
  std::vector<OwnPieces> pieces{};  ///< of this rank; a checkpoint holds those of all ranks as whole arrays in `parts`
  Whose whose = Whose::this_rank;

  const Part* find(const std::string& name) const;
  std::span<const float> values(const Part& part) const { return std::span(numbers).subspan(part.first, part.count); }
  /// The memory of all arrays.
  std::size_t bytes() const;
};

/// Copies the state of this rank; the texts, seed and best stay as they are. Memory that is there is used again. What
/// a strategy says is not in use is left out.
void take_snapshot(Snapshot& into, const exec::ParamStore& store, const Position& position,
                   const exec::StateBlocks& state);

/// Bytes that a snapshot of this state takes.
std::size_t snapshot_bytes(const exec::ParamStore& store, const exec::StateBlocks& state, int ranks);

/// Whether it holds the statistics and numbers that each of `ranks` ranks of this network had for itself.
bool holds_own(const Snapshot& snapshot, const exec::ParamStore& store, const exec::StateBlocks& state, int ranks);

/// Puts weights, slots and what the strategy keeps back, as they were on rank `rank` of `ranks`: when the snapshot is
/// of as many ranks, each gets its own running statistics and blocks again, otherwise the weights' and what the blocks
/// say. Throws Error, with nothing changed, when it is of another network or optimizer, has blocks of another strategy
/// that must not be dropped, or lacks one that is required.
void restore(const Snapshot& snapshot, exec::ParamStore& store, const exec::StateBlocks& state, int rank = 0,
             int ranks = 1);

/// Restores only the weights, for a network that will not be trained further.
void restore_weights(const Snapshot& snapshot, exec::ParamStore& store);

/// What this rank collected for itself: all weights that are not trained, in plain layout, one after the other.
std::vector<float> own_statistics(const exec::ParamStore& store);
void set_own_statistics(exec::ParamStore& store, std::span<const float> statistics);

}  // namespace isobar::checkpoint
