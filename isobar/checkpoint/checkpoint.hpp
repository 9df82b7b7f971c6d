// Checkpoint: one HDF5 file in plain layout: weights, optimizer slots, what a strategy keeps, metrics so far, recipe.
// Others read it as HDF5 (weights/NAME has the weight's plain shape); Isobar reads it by the index at its head alone,
// never through the HDF5 library, and believes no byte whose check sum it has not seen to be right.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "isobar/checkpoint/checkpoint_index.hpp"
#include "isobar/files/input_file.hpp"

namespace isobar::checkpoint {

/// Writes under a temporary name, waits for the disk, then renames: an older file of that name is replaced whole or not
/// at all. Returns bytes.
std::uintmax_t write_checkpoint(const std::filesystem::path& file, const Snapshot& snapshot);

/// An opened checkpoint, whose index is sound; it can be read also when its name goes meanwhile.
class CheckpointFile {
 public:
  /// Throws Error when it is none, of another format, not complete, or its index is damaged.
  explicit CheckpointFile(const std::filesystem::path& file);

  const std::filesystem::path& path() const { return in_.path(); }
  const Position& position() const { return index_.position; }
  const CheckpointIndex& index() const { return index_; }
  /// The recipe as TOML.
  std::string recipe() const;

  /// Reads the file to its end and throws Error when a byte of it has changed.
  void verify() const;
  /// All that is in it, verified; memory is taken for what the file holds, no more.
  Snapshot read() const;
  /// The weights alone, verified, with position and recipe.
  Snapshot read_weights() const;

 private:
  Snapshot read(bool all) const;
  void read_entry(const CheckpointIndex::Entry& entry, std::span<std::uint8_t> into) const;
  std::string text(const char* name) const;

  files::InputFile in_;
  CheckpointIndex index_;
};

}  // namespace isobar::checkpoint
