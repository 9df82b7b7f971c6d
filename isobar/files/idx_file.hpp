// IdxFile: an array in the idx format of MNIST, held in memory: two zero bytes, a byte for the type of number, a byte
// for the rank, the extents as big-endian 32-bit numbers, then the numbers, big-endian, the last axis fastest.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "isobar/files/archive.hpp"
#include "isobar/files/number_type.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::files {

class IdxFile {
 public:
  /// Reads a file, compressed or not; a size that does not match its header is an Error.
  IdxFile(const std::filesystem::path& path, std::int64_t max_bytes);

  const Shape& shape() const { return shape_; }
  /// Entry `index` of the first axis as floats.
  void read_row(std::int64_t index, std::span<float> out) const;

 private:
  Shape shape_;
  NumberType type_{};
  std::size_t header_ = 0;  // bytes before the first number
  Bytes bytes_;
};

/// What the first bytes of a file say: type and shape, and the size the whole file must have.
struct IdxHeader {
  std::string_view type;
  Shape shape{};
  std::uint64_t bytes = 0;
};

/// The header at the beginning of `bytes`; nullopt if they are not an idx file.
std::optional<IdxHeader> read_idx_header(std::span<const std::uint8_t> bytes);

/// Whether the format has a code for a type.
bool idx_can_hold(NumberType type);

/// The header of a new file, to be followed by big-endian numbers. An axis longer than 2^32 - 1 is an Error.
Bytes idx_header(NumberType type, const Shape& shape);

}  // namespace isobar::files
