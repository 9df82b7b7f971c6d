#include "isobar/comm/numbers.hpp"

#include <algorithm>
#include <type_traits>

#include "isobar/base/error.hpp"
#include "isobar/base/instructions.hpp"

namespace isobar::comm {
namespace {

template <class T>
T sum_of(T a, T b) {
  using Bits = std::uint64_t;  // overflow has a meaning
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<Bits>(a) + static_cast<Bits>(b));
  else if constexpr (sizeof(T) == 2) return T(static_cast<float>(a) + static_cast<float>(b));
  else return a + b;
}

template <class T>
T largest_of(T a, T b) {
  return a >= b || a != a ? a : b;
}

template <class T, T (*combined)(T, T)>
void combine_all(const std::byte* from, std::byte* to, std::size_t count) {
  run_dispatched([&] {
    const auto* const theirs = reinterpret_cast<const T*>(from);
    auto* const mine = reinterpret_cast<T*>(to);
    for (std::size_t i = 0; i < count; ++i) mine[i] = combined(theirs[i], mine[i]);
  });
}

template <class T>
auto combination_of(Combine combine) {
  return combine == Combine::sum ? combine_all<T, sum_of<T>> : combine_all<T, largest_of<T>>;
}

}  // namespace

template <class T>
Numbers::Numbers(std::span<T> numbers, Combination combination)
    : first_(std::as_writable_bytes(numbers).data()),
      count_(numbers.size()),
      number_bytes_(sizeof(T)),
      combination_(combination) {}

Numbers::Numbers(std::span<float> numbers, const codec::Codec& codec) : Numbers(numbers, Combination(nullptr)) {
  expects(codec.carriage() == codec::Carriage::added, "numbers that can be added on their way");
  codec_ = &codec;
  is_plain_ = codec.is_plain();
}
Numbers::Numbers(std::span<double> numbers, Combine combine) : Numbers(numbers, combination_of<double>(combine)) {}
Numbers::Numbers(std::span<std::int64_t> numbers, Combine combine)
    : Numbers(numbers, combination_of<std::int64_t>(combine)) {}
Numbers::Numbers(std::span<BFloat16> numbers) : Numbers(numbers, combination_of<BFloat16>(Combine::sum)) {}
Numbers::Numbers(std::span<Float16> numbers) : Numbers(numbers, combination_of<Float16>(Combine::sum)) {}
Numbers::Numbers(std::span<std::byte> bytes) : Numbers(bytes, Combination(nullptr)) {}

std::span<float> Numbers::floats(const Range& range) const {
  return {reinterpret_cast<float*>(first_) + range.begin, range.count};
}

void Numbers::encode(const Range& range, std::span<std::byte> to) const {
  if (codec_) codec_->encode(floats(range), to);
  else std::ranges::copy(bytes(range), to.begin());
}

void Numbers::decode(std::span<const std::byte> from, const Range& range) const {
  if (codec_) return codec_->decode(from, floats(range));
  expects(from.size() == bound(range.count), "as many numbers as were encoded");
  std::ranges::copy(from, bytes(range).begin());
}

void Numbers::combine(std::span<const std::byte> from, const Range& range) const {
  if (codec_) return codec_->add(from, floats(range));
  expects(combination_ != nullptr, "numbers that can be added, which bytes cannot");
  expects(from.size() == bound(range.count), "as many numbers as were encoded");
  combination_(from.data(), bytes(range).data(), range.count);
}

void Numbers::round(const Range& range) const {
  if (!is_plain_) round_as(*codec_, floats(range));
}

}  // namespace isobar::comm
