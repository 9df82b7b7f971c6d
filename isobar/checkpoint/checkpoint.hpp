// Checkpoint: one HDF5 file in plain layout: weights, optimizer slots, what a strategy keeps, metrics so far, recipe.
// Other programs read it as HDF5 (weights/NAME has the weight's plain shape); Isobar reads it only by the index at its
// beginning, never through the HDF5 library, and trusts no byte before verifying its checksum.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "isobar/checkpoint/checkpoint_index.hpp"
#include "isobar/files/input_file.hpp"

namespace isobar::checkpoint {

/// Writes under a temporary name, waits for the disk, then renames: an older file of that name is replaced completely
/// or not at all. Returns the size in bytes.
std::uintmax_t write_checkpoint(const std::filesystem::path& file, const Snapshot& snapshot);

/// An open checkpoint with a valid index; it stays readable if its name is removed.
class CheckpointFile {
 public:
  /// Throws Error if the file is not a checkpoint, has another format, is incomplete, or its index is damaged.
  explicit CheckpointFile(const std::filesystem::path& file);

  const std::filesystem::path& path() const { return in_.path(); }
  const Position& position() const { return index_.position; }
  const CheckpointIndex& index() const { return index_; }
  /// The recipe as TOML.
  std::string recipe() const;

  /// Reads the whole file and throws Error if a byte of it has changed.
  void verify() const;
  /// Everything in it, verified; allocates no more memory than the file holds.
  Snapshot read() const;
  /// Only the weights, verified, with position and recipe.
  Snapshot read_weights() const;

 private:
  Snapshot read(bool all) const;
  void read_entry(const CheckpointIndex::Entry& entry, std::span<std::uint8_t> into) const;
  std::string text(const char* name) const;

  files::InputFile in_;
  CheckpointIndex index_;
};

}  // namespace isobar::checkpoint
