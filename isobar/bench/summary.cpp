#include "isobar/bench/summary.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "isobar/base/error.hpp"

namespace isobar::bench {

Summary summarize(std::span<const double> values) {
  expects(!values.empty(), "at least one measurement");
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  const double median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
  // How many of n numbers lie below the true median is binomial (n, 1/2): take the largest k whose two tails together
  // hold at most 5 %.
  double tail = 0, term = std::pow(0.5, static_cast<double>(n));
  std::size_t k = 0;
  while (k < (n - 1) / 2 && 2 * (tail + term) <= 0.05) {
    tail += term;
    term *= static_cast<double>(n - k) / (k + 1);
    ++k;
  }
  const std::size_t low = k == 0 ? 0 : k - 1;
  return {median, sorted[low], sorted[n - 1 - low]};
}

}  // namespace isobar::bench
