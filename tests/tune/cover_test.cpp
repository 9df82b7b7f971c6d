#include "isobar/tune/cover.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace isobar::tune {
namespace {

std::vector<std::int64_t> sizes(const Cover& cover, const std::vector<Tile>& tiles) {
  std::vector<std::int64_t> all;
  for (const std::size_t t : cover.tiles) all.push_back(tiles[t].samples);
  return all;
}

TEST(Cover, OnePieceWhenThatIsFastest) {
  const std::vector<Tile> tiles{{1, 2.0}, {4, 5.0}, {8, 9.0}};
  const Cover cover = cheapest_cover(8, tiles);
  EXPECT_EQ(sizes(cover, tiles), std::vector<std::int64_t>{8});
  EXPECT_EQ(cover.seconds, 9.0);
}

// 13 = 4 + 4 + 4 + 1: 4 x 3 + 2 = 14; with 8: 10 + 3 + 2 = 15.
TEST(Cover, MixesPieces) {
  const std::vector<Tile> tiles{{1, 2.0}, {2, 3.5}, {4, 4.0}, {8, 10.0}};
  const Cover cover = cheapest_cover(13, tiles);
  EXPECT_EQ(sizes(cover, tiles), (std::vector<std::int64_t>{4, 4, 4, 1}));
  EXPECT_EQ(cover.seconds, 14.0);
}

TEST(Cover, FewerPiecesWhenEquallyFast) {
  const std::vector<Tile> tiles{{1, 1.0}, {4, 4.0}, {2, 2.0}};
  EXPECT_EQ(sizes(cheapest_cover(4, tiles), tiles), std::vector<std::int64_t>{4});
}

TEST(Cover, NoneWhenNothingFits) {
  EXPECT_TRUE(cheapest_cover(3, std::vector<Tile>{{2, 1.0}}).tiles.empty());
  EXPECT_TRUE(cheapest_cover(3, {}).tiles.empty());
  EXPECT_TRUE(cheapest_cover(2, std::vector<Tile>{{2, std::numeric_limits<double>::infinity()}}).tiles.empty());
}

// Against all ways to write n as a sum of the sizes.
double all_ways(std::int64_t n, const std::vector<Tile>& tiles) {
  double best = n == 0 ? 0 : std::numeric_limits<double>::infinity();
  for (const Tile& tile : tiles)
    if (tile.samples <= n) best = std::min(best, tile.seconds + all_ways(n - tile.samples, tiles));
  return best;
}

TEST(Cover, IsTheBestOfAllWays) {
  const std::vector<Tile> tiles{{1, 1.7}, {2, 2.9}, {3, 4.1}, {5, 6.6}};
  for (std::int64_t n = 1; n <= 14; ++n) EXPECT_DOUBLE_EQ(cheapest_cover(n, tiles).seconds, all_ways(n, tiles)) << n;
}

}  // namespace
}  // namespace isobar::tune
