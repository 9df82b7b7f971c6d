// The cheapest way to cover a batch with pieces of known cost, by dynamic programming (as in micro-cuDNN, Oyama et al.,
// 2018): the best for n samples is the best for n - s and one piece of s, over all s.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace isobar::tune {

/// A piece that may be used any number of times.
struct Tile {
  std::int64_t samples;
  double seconds;
};

struct Cover {
  std::vector<std::size_t> tiles{};  ///< indices, the largest pieces first; empty: there is no way
  double seconds = 0;
};

/// Of equally fast covers the one with fewest pieces.
Cover cheapest_cover(std::int64_t batch, std::span<const Tile> tiles);

}  // namespace isobar::tune
