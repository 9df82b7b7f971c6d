#include "isobar/datasets/counts.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "isobar/base/error.hpp"

namespace isobar::datasets {
namespace {

using Count = std::int16_t;
using Logarithms = std::array<float, 1 << 16>;

// A table instead of 8 million logarithms per 128^3 x 4 sample: readers must not take the cores from the network.
// Below -1 the logarithm is NaN, as it would be in a float file.
const Logarithms& logarithms() {
  static const Logarithms table = [] {
    Logarithms made;
    for (int i = 0; i < (1 << 16); ++i) made[i] = std::log1p(static_cast<float>(static_cast<Count>(i)));
    return made;
  }();
  return table;
}

// Both loops read count i before they write float i, and float i covers only counts at or before i if the counts are in
// the last half of out; so the same loops work in place and with separate memory.
template <class F>
void for_each_count(std::span<const Count> counts, std::span<float> out, F scaling) {
  const auto* from = reinterpret_cast<const std::byte*>(counts.data());
  auto* to = reinterpret_cast<std::byte*>(out.data());
  for (std::size_t i = 0; i < out.size(); ++i) {
    Count count;
    std::memcpy(&count, from + i * sizeof(Count), sizeof(Count));
    const float value = scaling(count);
    std::memcpy(to + i * sizeof(float), &value, sizeof(float));
  }
}

}  // namespace

void expand_counts(std::span<const Count> counts, CountScaling scaling, std::span<float> out) {
  expects(counts.size() == out.size(), "as many counts as floats");
  if (scaling == CountScaling::none) return for_each_count(counts, out, [](Count c) { return static_cast<float>(c); });
  const Logarithms& table = logarithms();
  for_each_count(counts, out, [&table](Count c) { return table[static_cast<std::uint16_t>(c)]; });
}

std::span<Count> last_half(std::span<float> out) {
  return {reinterpret_cast<Count*>(out.data()) + out.size(), out.size()};
}

void apply_scaling(CountScaling scaling, std::span<float> values) {
  if (scaling == CountScaling::none) return;
  // Counts are small integers, in floats too: the table is several times faster than the logarithm.
  const Logarithms& table = logarithms();
  for (float& value : values) {
    const float bounded = value >= 0 && value <= std::numeric_limits<Count>::max() ? value : 0.0f;
    const std::size_t whole = static_cast<int>(bounded);
    value = static_cast<float>(whole) == value ? table[whole] : std::log1p(value);
  }
}

void pack_counts(std::span<const float> values, std::span<Count> counts) {
  expects(counts.size() == values.size(), "as many counts as floats");
  using Limits = std::numeric_limits<Count>;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float value = values[i];
    if (!(value >= Limits::min() && value <= Limits::max()) || value != std::nearbyint(value))
      fail("counts: {} is not a whole number that fits 16 bits ({} to {})", value, Limits::min(), Limits::max());
    counts[i] = static_cast<Count>(value);
  }
}

}  // namespace isobar::datasets
