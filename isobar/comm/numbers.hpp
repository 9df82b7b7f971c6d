// Numbers: what a walk moves and adds: where they are, their type, what adding two of them means, and how they travel.
// Floats travel as a codec has them, all others as they are in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "isobar/base/float16.hpp"
#include "isobar/codec/codec.hpp"
#include "isobar/comm/range.hpp"

namespace isobar::comm {

/// What is made of a number that is there and one that arrives.
enum class Combine {
  sum,
  largest,  ///< NaN counts as larger than all others
};

class Numbers {
 public:
  /// Floats; the codec is one whose numbers are added on their way, and must outlive this.
  Numbers(std::span<float> numbers, const codec::Codec& codec = *codec::plain());
  Numbers(std::span<double> numbers, Combine combine = Combine::sum);
  Numbers(std::span<std::int64_t> numbers, Combine combine = Combine::sum);
  /// Summed as floats, and rounded after every addition.
  Numbers(std::span<BFloat16> numbers);
  Numbers(std::span<Float16> numbers);
  /// Bytes are only moved.
  Numbers(std::span<std::byte> bytes);

  std::size_t count() const { return count_; }
  /// Of one number, in memory.
  std::size_t number_bytes() const { return number_bytes_; }
  /// Whether they travel as they are in memory.
  bool is_plain() const { return is_plain_; }
  /// The bytes in which so many of them travel.
  std::size_t bound(std::size_t count) const { return is_plain_ ? count * number_bytes_ : codec_->bound(count); }

  /// Some of them, as they are in memory.
  std::span<std::byte> bytes(const Range& range) const {
    return {first_ + range.begin * number_bytes_, range.count * number_bytes_};
  }
  /// Writes some of them as they travel, and replaces them by what will be read.
  void encode(const Range& range, std::span<std::byte> to) const;
  /// Replaces some of them by what was encoded, or combines the two.
  void decode(std::span<const std::byte> from, const Range& range) const;
  void combine(std::span<const std::byte> from, const Range& range) const;
  /// Replaces some of them by what would be read if they had travelled.
  void round(const Range& range) const;

 private:
  using Combination = void (*)(const std::byte* from, std::byte* to, std::size_t count);
  template <class T>
  Numbers(std::span<T> numbers, Combination combination);
  std::span<float> floats(const Range& range) const;

  std::byte* first_;
  std::size_t count_, number_bytes_;
  bool is_plain_ = true;
  const codec::Codec* codec_ = nullptr;  // of floats; null: another type
  Combination combination_ = nullptr;    // of another type; null: they are only moved
};

}  // namespace isobar::comm
