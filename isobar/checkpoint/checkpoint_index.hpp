// The index of a checkpoint: text at the beginning of the file, in what HDF5 calls its user block. It says where the
// run was and, for every byte after it, what it belongs to and with which checksum. Isobar reads checkpoints by it
// alone; HDF5's own structures are for other programs. docs/decisions/0013-checkpoint-format.md has the reasons.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/checkpoint/snapshot.hpp"
#include "isobar/files/number_type.hpp"

namespace isobar::checkpoint {

struct CheckpointIndex {
  /// An array, a text or, without a name, HDF5's own structures.
  struct Entry {
    std::string name;
    files::NumberType type = files::NumberType::uint8;  ///< uint8: text, or HDF5's own structures
    Shape shape;
    std::int64_t offset = 0, bytes = 0;
    std::uint32_t sum = 0;  ///< CRC-32C
  };

  int format = 2;  ///< 3 has more of a strategy than what it has once and must not drop
  Position position{};
  std::int64_t seed = 0;
  std::int64_t slots = 0, ranks = 1;
  double best = 0;
  std::string plan{};
  std::vector<Entry> entries{};  ///< by offset; together they are the file after the index, without gaps
  std::int64_t user_block = 0, file_bytes = 0;

  const Entry* find(std::string_view name) const;
};

/// Bytes of the first line, which says how long the index is.
inline constexpr std::size_t index_head_bytes = 64;

/// Bytes of a user block that can hold the index, whatever offsets and checksums turn out to be.
std::int64_t user_block_for(const CheckpointIndex& index);

/// The user block of user_block bytes.
std::string write_index(const CheckpointIndex& index);

/// Puts the right checksum into a user block, for example one that a test has changed.
std::string seal_index(std::string block);

/// The length that the index states; throws Error naming `file` if these bytes are not the head of a checkpoint, or if
/// that length is impossible in a file of `file_bytes` bytes.
std::int64_t index_bytes(std::span<const std::uint8_t> head, std::int64_t file_bytes, const std::string& file);

/// Reads the index of a file of `file_bytes` bytes; throws Error if anything in it is invalid.
CheckpointIndex read_index(std::span<const std::uint8_t> user_block, std::int64_t file_bytes, const std::string& file);

}  // namespace isobar::checkpoint
