#include "isobar/ops/joint_sums.hpp"

#include <algorithm>
#include <vector>

#include "isobar/base/error.hpp"

namespace isobar::ops {
namespace {
// A count is sent as digits so small that a float holds the sum of 65,536 of them exactly.
constexpr int digit_bits = 8, digits = 6;
}  // namespace

std::int64_t sum_over_ranks(const Moment& moment, std::int64_t count, std::span<double> sums) {
  expects(moment.sum && *moment.sum, "a sum over ranks");
  expects(count >= 0 && count < std::int64_t{1} << (digit_bits * digits), "a count that fits its digits");
  std::vector<float> sent(sums.size() + digits);
  for (int d = 0; d < digits; ++d) sent[d] = static_cast<float>((count >> (digit_bits * d)) & ((1 << digit_bits) - 1));
  std::transform(sums.begin(), sums.end(), sent.begin() + digits, [](double v) { return static_cast<float>(v); });
  (*moment.sum)(sent);
  std::copy(sent.begin() + digits, sent.end(), sums.begin());
  std::int64_t total = 0;
  for (int d = 0; d < digits; ++d) total += static_cast<std::int64_t>(sent[d]) << (digit_bits * d);
  return total;
}

}  // namespace isobar::ops
