#include "isobar/feeding/hold.hpp"

#include <cstring>

#include "isobar/base/error.hpp"
#include "isobar/base/float16.hpp"
#include "isobar/base/instructions.hpp"

namespace isobar::feeding {
namespace {

void narrow_to_float16(std::span<const float> numbers, Float16* held) {
  unsigned lost = 0;
  run_dispatched([&] {
    unsigned some = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      held[i] = static_cast<Float16>(numbers[i]);
      some |= !Float16::holds(numbers[i]);
    }
    lost = some;
  });
  for (std::size_t i = 0; lost && i < numbers.size(); ++i)
    if (!Float16::holds(numbers[i]))
      fail("{} does not fit float16, which ends at 65504; hold=bfloat16 or hold=float32 would do", numbers[i]);
}

void narrow_to_bfloat16(std::span<const float> numbers, BFloat16* held) {
  run_dispatched([&] {
    for (std::size_t i = 0; i < numbers.size(); ++i) held[i] = static_cast<BFloat16>(numbers[i]);
  });
}

template <class Held>
void widen_from(const Held* held, std::span<float> out) {
  run_dispatched([&] {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = held[i];
  });
}

}  // namespace

std::size_t bytes_of(Hold hold) { return hold == Hold::float32 ? 4 : 2; }

void narrow(Hold hold, std::span<const float> numbers, std::byte* out) {
  switch (hold) {
    case Hold::float32: std::memcpy(out, numbers.data(), numbers.size_bytes()); return;
    case Hold::float16: return narrow_to_float16(numbers, reinterpret_cast<Float16*>(out));
    case Hold::bfloat16: return narrow_to_bfloat16(numbers, reinterpret_cast<BFloat16*>(out));
  }
}

void widen(Hold hold, const std::byte* held, std::span<float> out) {
  switch (hold) {
    case Hold::float32: std::memcpy(out.data(), held, out.size_bytes()); return;
    case Hold::float16: return widen_from(reinterpret_cast<const Float16*>(held), out);
    case Hold::bfloat16: return widen_from(reinterpret_cast<const BFloat16*>(held), out);
  }
}

}  // namespace isobar::feeding
