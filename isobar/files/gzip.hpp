// gzip files in memory, inflated as a whole by libdeflate, which is about twice as fast as zlib. Memory follows what
// the compressed bytes can become at most, 1032 times as much, and what the caller allows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace isobar::files {

/// Memory that grows without being filled with zeros first, and is used again.
class ByteBuffer {
 public:
  /// At least `size` bytes, whose content is anything; what was there before is lost.
  std::span<std::uint8_t> take(std::size_t size);
  /// As take(), keeping the first `kept` bytes.
  std::span<std::uint8_t> grow(std::size_t size, std::size_t kept);
  std::size_t capacity() const { return capacity_; }

 private:
  std::unique_ptr<std::uint8_t[]> memory_;
  std::size_t capacity_ = 0;
};

/// Whether bytes begin as a gzip file does.
bool is_gzip(std::span<const std::uint8_t> bytes);

/// Inflates a gzip file of one member or several into `out` and returns what is used of it. More than `max_bytes`,
/// damage, or bytes that belong to no member are an Error; the caller knows the file's name.
std::span<const std::uint8_t> inflate_gzip(std::span<const std::uint8_t> file, std::int64_t max_bytes, ByteBuffer& out);

}  // namespace isobar::files
