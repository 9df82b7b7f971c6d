#include "isobar/comm/wire_format.hpp"

#include "isobar/base/float16.hpp"
#include "isobar/base/instructions.hpp"

namespace isobar::comm {
namespace {

// Calls `work` with a value of the type in which numbers travel.
template <class F>
void with_type(Wire wire, F work) {
  switch (wire) {
    case Wire::float32: return run_dispatched([&] { work(float{}); });
    case Wire::bfloat16: return run_dispatched([&] { work(BFloat16{}); });
    case Wire::float16: return run_dispatched([&] { work(Float16{}); });
  }
}

}  // namespace

void pack(Wire wire, std::span<float> numbers, std::byte* to) {
  with_type(wire, [&]<class Stored>(Stored) {
    float* const number = numbers.data();
    auto* const stored = reinterpret_cast<Stored*>(to);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      stored[i] = static_cast<Stored>(number[i]);
      number[i] = stored[i];
    }
  });
}

void round_to(Wire wire, std::span<float> numbers) {
  if (wire == Wire::float32) return;
  with_type(wire, [&]<class Stored>(Stored) {
    float* const number = numbers.data();
    for (std::size_t i = 0; i < numbers.size(); ++i) number[i] = static_cast<Stored>(number[i]);
  });
}

void unpack(Wire wire, const std::byte* from, std::span<float> to) {
  with_type(wire, [&]<class Stored>(Stored) {
    const auto* const stored = reinterpret_cast<const Stored*>(from);
    float* const number = to.data();
    for (std::size_t i = 0; i < to.size(); ++i) number[i] = stored[i];
  });
}

void unpack_add(Wire wire, const std::byte* from, std::span<float> to) {
  with_type(wire, [&]<class Stored>(Stored) {
    const auto* const stored = reinterpret_cast<const Stored*>(from);
    float* const number = to.data();
    for (std::size_t i = 0; i < to.size(); ++i) number[i] += stored[i];
  });
}

}  // namespace isobar::comm
