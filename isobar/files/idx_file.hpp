// IdxFile: an array in the idx format of MNIST, held in memory: two zero bytes, a byte for the type of number, a byte
// for the rank, the extents as big-endian 32-bit numbers, then the numbers, big-endian, the last axis fastest.
#pragma once

#include <filesystem>
#include <span>

#include "isobar/files/archive.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::files {

class IdxFile {
 public:
  /// Reads a file, compressed or not; one whose size does not follow from its header is an Error.
  IdxFile(const std::filesystem::path& path, std::int64_t max_bytes);

  const Shape& shape() const { return shape_; }
  /// Entry `index` of the first axis as floats.
  void read_row(std::int64_t index, std::span<float> out) const;

 private:
  Shape shape_;
  int type_ = 0;
  std::size_t header_ = 0;  // bytes before the first number
  Bytes bytes_;
};

}  // namespace isobar::files
