#include "isobar/feeding/hold.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "isobar/base/error.hpp"

namespace isobar::feeding {
namespace {

__extension__ using Half = _Float16;

void to_half(std::span<const float> numbers, Half* out) {
  bool lost = false;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    out[i] = static_cast<Half>(numbers[i]);
    lost |= std::isinf(static_cast<float>(out[i])) && !std::isinf(numbers[i]);
  }
  if (!lost) return;
  for (const float number : numbers)
    if (std::isinf(static_cast<float>(static_cast<Half>(number))) && !std::isinf(number))
      fail("{} does not fit float16, which ends at 65504; hold=bfloat16 or hold=float32 would do", number);
}

// To nearest, ties to even; a NaN keeps its upper bits and stays one.
std::uint16_t to_brain(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  if (std::isnan(number)) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace

std::size_t bytes_of(Hold hold) { return hold == Hold::float32 ? 4 : 2; }

void narrow(Hold hold, std::span<const float> numbers, std::byte* out) {
  if (hold == Hold::float32) std::memcpy(out, numbers.data(), numbers.size_bytes());
  if (hold == Hold::float16) to_half(numbers, reinterpret_cast<Half*>(out));
  if (hold != Hold::bfloat16) return;
  auto* to = reinterpret_cast<std::uint16_t*>(out);
  for (std::size_t i = 0; i < numbers.size(); ++i) to[i] = to_brain(numbers[i]);
}

void widen(Hold hold, const std::byte* held, std::span<float> out) {
  if (hold == Hold::float32) std::memcpy(out.data(), held, out.size_bytes());
  const auto* halves = reinterpret_cast<const Half*>(held);
  for (std::size_t i = 0; hold == Hold::float16 && i < out.size(); ++i) out[i] = static_cast<float>(halves[i]);
  const auto* brains = reinterpret_cast<const std::uint16_t*>(held);
  for (std::size_t i = 0; hold == Hold::bfloat16 && i < out.size(); ++i)
    out[i] = std::bit_cast<float>(static_cast<std::uint32_t>(brains[i]) << 16);
}

}  // namespace isobar::feeding
