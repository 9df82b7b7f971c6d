// The value in the middle: of an even number the upper one of the two; 0 of none.
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
