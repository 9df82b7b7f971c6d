// Hdf5Outline: everything in an HDF5 file except the numbers of its arrays. The library makes it in memory, so that the
// file itself can be written without the library and its lock: a slow disk then does not hold up readers.
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

/// A contiguous array or, with `text`, one text of shape[0] bytes.
struct OutlinedArray {
  std::string name;  ///< its parent groups are made
  Shape shape;
  files::NumberType type = files::NumberType::float32;
  bool text = false;

  std::int64_t bytes() const { return shape.count() * files::width_of(type); }
};

using OutlinedAttribute = std::pair<std::string, std::variant<std::int64_t, double, std::string>>;

struct Hdf5Outline {
  /// Bytes that are not numbers.
  struct Piece {
    std::int64_t offset;
    std::vector<std::uint8_t> bytes;
  };
  std::vector<std::int64_t> offsets;  ///< of the arrays in the file, in their order
  std::vector<Piece> pieces;          ///< together with the arrays and the user block, the whole file, without overlaps
  std::int64_t bytes = 0;             ///< of the file
};

/// The outline of a file with these arrays, none of them empty, and attributes. They come after `user_block` bytes
/// (512, 1024, 2048, ...), which are left to the caller.
Hdf5Outline outline_hdf5(std::span<const OutlinedArray> arrays, std::span<const OutlinedAttribute> attributes,
                         std::int64_t user_block);

}  // namespace isobar::hdf5
