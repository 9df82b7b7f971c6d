// Range: some of the numbers that lie one after the other in memory.
#pragma once

#include <cstddef>

namespace isobar::comm {

/// Numbers [begin, begin + count) of the data.
struct Range {
  std::size_t begin = 0, count = 0;
  std::size_t end() const { return begin + count; }
  friend bool operator==(const Range&, const Range&) = default;
};

}  // namespace isobar::comm
