// Counts: particle numbers in cells, kept as int16 as in the MLPerf files, and their conversion to the floats a network
// reads: unchanged, or as ln(x + 1).
#pragma once

#include <cstdint>
#include <span>

namespace isobar::datasets {

/// What happens to numbers between storage and network.
enum class CountScaling { none, log };  // log: x -> ln(x + 1)

/// out[i] = scaling(counts[i]); sizes are equal. `counts` may be the last half of `out`.
void expand_counts(std::span<const std::int16_t> counts, CountScaling scaling, std::span<float> out);

/// The last half of `out` as int16: counts read into it are expanded in place by expand_counts().
std::span<std::int16_t> last_half(std::span<float> out);

/// Applies the scaling in place; gives the same bits as expand_counts() for integers.
void apply_scaling(CountScaling scaling, std::span<float> values);

/// Converts integers in [-32768, 32767] to int16; any other value is an Error that names it.
void pack_counts(std::span<const float> values, std::span<std::int16_t> counts);

}  // namespace isobar::datasets
