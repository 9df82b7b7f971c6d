// The median; the upper of the two middle values if their number is even, and 0 if there are none.
#pragma once

#include <algorithm>
#include <vector>

namespace isobar::record {

inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + values.size() / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace isobar::record
