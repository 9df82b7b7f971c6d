// Hdf5Outline: everything of an HDF5 file but the numbers of its arrays: made by the library in memory, so that the
// file itself can be written plainly, without the library and its lock: a slow disk then holds up nobody who reads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "isobar/files/number_type.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::hdf5 {

/// An array in one piece, or, with `text`, one text of shape[0] bytes.
struct OutlinedArray {
  std::string name;  ///< groups above it are made
  Shape shape;
  files::NumberType type = files::NumberType::float32;
  bool text = false;

  std::int64_t bytes() const { return shape.count() * static_cast<std::int64_t>(files::width_of(type)); }
};

using OutlinedAttribute = std::pair<std::string, std::variant<std::int64_t, double, std::string>>;

struct Hdf5Outline {
  /// Bytes that are not numbers.
  struct Piece {
    std::int64_t offset;
    std::vector<std::uint8_t> bytes;
  };
  std::vector<std::int64_t> offsets;  ///< in the file, of the arrays in their order
  std::vector<Piece> pieces;          ///< with the arrays and the user block they are the file, without overlaps
  std::int64_t bytes = 0;             ///< of the file
};

/// The file with these arrays, none of them empty, and attributes, behind `user_block` bytes, 512 or twice, four times,
/// ... that, which are left to the caller.
Hdf5Outline outline_hdf5(std::span<const OutlinedArray> arrays, std::span<const OutlinedAttribute> attributes,
                         std::int64_t user_block);

}  // namespace isobar::hdf5
