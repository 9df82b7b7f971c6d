// Tensor: a shaped piece of memory, owned or borrowed; it never computes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "isobar/tensor/layout.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar {

/// Uninitialised memory aligned to 64 bytes; large blocks request huge pages from the system.
class Block {
 public:
  Block() = default;
  explicit Block(std::size_t bytes);
  std::byte* data() const { return data_.get(); }
  std::size_t size() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t bytes_ = 0;
};

/// Row-major float numbers with a shape.
class Tensor {
 public:
  Tensor() = default;
  /// Owns zeroed memory.
  explicit Tensor(Shape shape);
  /// Borrows `data`, which must outlive the tensor and hold shape.count() numbers.
  Tensor(Shape shape, float* data) : shape_(std::move(shape)), data_(data) {}

  const Shape& shape() const { return shape_; }
  std::int64_t count() const { return data_ ? shape_.count() : 0; }
  float* data() const { return data_; }
  std::span<float> span() const { return std::span(data_, count()); }
  /// Row `index` along the first axis.
  std::span<float> row(std::int64_t index) const;

 private:
  Shape shape_;
  Block owned_;
  float* data_ = nullptr;
};

}  // namespace isobar
