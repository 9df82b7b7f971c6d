// The cheapest way to cover a batch with pieces of known cost, by dynamic programming (as in micro-cuDNN, Oyama et al.,
// 2018): the best cover of n samples is the best, over all s, of a piece of s and the best cover of n - s.
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
  std::vector<std::size_t> tiles{};  ///< indices, largest pieces first; empty: there is no cover
  double seconds = 0;
};

/// The fastest cover; of equally fast ones, that with the fewest pieces.
Cover cheapest_cover(std::int64_t batch, std::span<const Tile> tiles);

}  // namespace isobar::tune
