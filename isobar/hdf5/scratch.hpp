// Scratch: memory that a thread reuses; it only grows, and its content is whatever was left there.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace isobar::hdf5 {

class Scratch {
 public:
  /// `bytes` bytes; the same memory each time, if it is large enough.
  std::span<std::byte> take(std::size_t bytes) {
    if (bytes > size_) {
      memory_.reset();
      memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
      size_ = bytes;
    }
    return {memory_.get(), bytes};
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_ = 0;
};

}  // namespace isobar::hdf5
