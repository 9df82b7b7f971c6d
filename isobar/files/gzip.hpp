// gzip files in memory, inflated as a whole by libdeflate, which is about twice as fast as zlib. Memory is limited by
// what the compressed bytes can expand to, 1032 times their size, and by what the caller allows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace isobar::files {

/// Reusable memory that grows without being filled with zeros first.
class ByteBuffer {
 public:
  /// At least `size` bytes with undefined content; the previous content is lost.
  std::span<std::uint8_t> take(std::size_t size);
  /// Like take(), but keeps the first `kept` bytes.
  std::span<std::uint8_t> grow(std::size_t size, std::size_t kept);
  std::size_t capacity() const { return capacity_; }

 private:
  std::unique_ptr<std::uint8_t[]> memory_;
  std::size_t capacity_ = 0;
};

/// Whether bytes begin like a gzip file.
bool is_gzip(std::span<const std::uint8_t> bytes);

/// Inflates a gzip file of one or more members into `out` and returns the part of it that was filled. Exceeding
/// `max_bytes`, damage, or bytes that belong to no member are an Error; callers add the file's name.
std::span<const std::uint8_t> inflate_gzip(std::span<const std::uint8_t> file, std::int64_t max_bytes, ByteBuffer& out);

}  // namespace isobar::files
