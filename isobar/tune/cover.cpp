#include "isobar/tune/cover.hpp"

#include <algorithm>
#include <limits>

#include "isobar/base/error.hpp"

namespace isobar::tune {

Cover cheapest_cover(std::int64_t batch, std::span<const Tile> tiles) {
  expects(batch >= 1, "a batch of one sample or more");
  struct Best {
    double seconds = std::numeric_limits<double>::infinity();
    std::int64_t pieces = 0;
    std::size_t last = 0;  // tile
  };
  std::vector<Best> best(batch + 1);
  best[0].seconds = 0;
  for (std::int64_t n = 1; n <= batch; ++n) {
    Best& here = best[n];
    for (std::size_t t = 0; t < tiles.size(); ++t) {
      if (tiles[t].samples < 1 || tiles[t].samples > n) continue;
      const Best& before = best[n - tiles[t].samples];
      const double seconds = before.seconds + tiles[t].seconds;
      const bool better = seconds < here.seconds || (seconds == here.seconds && before.pieces + 1 < here.pieces);
      if (better && seconds < std::numeric_limits<double>::infinity()) here = {seconds, before.pieces + 1, t};
    }
  }
  Cover cover;
  cover.seconds = best.back().seconds;
  if (cover.seconds == std::numeric_limits<double>::infinity()) return cover;
  for (std::int64_t n = batch; n > 0; n -= tiles[cover.tiles.back()].samples) cover.tiles.push_back(best[n].last);
  std::ranges::stable_sort(cover.tiles, [&](std::size_t a, std::size_t b) {
    return tiles[a].samples != tiles[b].samples ? tiles[a].samples > tiles[b].samples : a < b;
  });
  return cover;
}

}  // namespace isobar::tune
