// Checkpoint: one HDF5 file in plain layout: weights, optimizer slots, position, resolved recipe. It can be read
// without Isobar: weights/<name> has the weight's plain shape.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "isobar/train/snapshot.hpp"

namespace isobar::train {

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
