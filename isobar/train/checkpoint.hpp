// Checkpoint: one HDF5 file in plain layout: weights, optimizer slots, position, resolved recipe. It can be read
// without Isobar: weights/<name> has the weight's plain shape.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "isobar/exec/param_store.hpp"

namespace isobar::train {

/// Where a run stands; everything else follows from the recipe.
struct Position {
  std::int64_t step = 0;           ///< steps done in the whole run
  std::int64_t epoch = 0;          ///< epochs finished
  std::int64_t step_in_epoch = 0;  ///< global batches trained on in the epoch under way
  double loss_sum = 0;             ///< of the epoch under way, over samples
  std::int64_t loss_samples = 0;
  std::int64_t skipped = 0;  ///< bad samples left out in the epoch under way
  std::int64_t batch = 0;    ///< samples of a global batch; 0: not known
  std::int64_t rows = 0;     ///< samples the network computes at a time on one rank; 0: not known
};

/// What a strategy keeps from step to step: blocks laid out as all gradients, by name, and numbers beside them, which
/// are all zero when nothing is under way.
struct Kept {
  std::vector<std::pair<std::string, std::span<float>>> blocks{};
  std::span<double> numbers{};

  bool empty() const;
};

/// Writes under a temporary name, then renames: an older checkpoint is replaced whole or not at all. Returns bytes.
std::uintmax_t write_checkpoint(const std::filesystem::path& file, const exec::ParamStore& store,
                                const Position& position, const std::string& recipe, const Kept& kept = {});

/// Reads weights and slots into the store, and what the strategy keeps, which stays as it is when the file holds
/// nothing of the kind; throws Error when the file holds another network, or was left by another optimizer, or by
/// another strategy with steps under way.
Position read_checkpoint(const std::filesystem::path& file, exec::ParamStore& store, const Kept& kept = {});

/// What a checkpoint is of: where the run stood, and its recipe as TOML.
struct CheckpointHead {
  Position position{};
  std::string recipe{};
};
CheckpointHead read_checkpoint_head(const std::filesystem::path& file);

/// Reads the weights alone, for a network that is not trained any further: neither slots nor what a strategy keeps.
Position read_checkpoint_weights(const std::filesystem::path& file, exec::ParamStore& store);

}  // namespace isobar::train
