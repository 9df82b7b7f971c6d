// Mean and variance of every channel over the positions of a batch, and how those of several ranks become one: by one
// sum over the ranks, in doubles.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace isobar::ops {

struct BatchStatistics {
  std::int64_t count = 0;  ///< of positions
  std::vector<double> mean, variance;
};

/// Of `rows` rows of `width` channels.
BatchStatistics batch_statistics(std::int64_t rows, std::int64_t width, const float* values);

/// How many doubles carry the sums of two numbers for each channel, and a count.
constexpr std::int64_t sums_with_count(std::int64_t width) { return 2 * width + 1; }

/// The numbers whose sums over ranks are those of all positions; none of a rank without positions but zeros.
void pack(const BatchStatistics& own, std::span<double> sums);
/// From such sums. Their squares are around zero, which costs no more digits of the variance than were lost when the
/// values became floats.
BatchStatistics unpack(std::span<const double> sums);

}  // namespace isobar::ops
