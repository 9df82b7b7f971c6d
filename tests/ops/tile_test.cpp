// Tiles against plain loops: every number of rows and columns, both orders of a, several runs, with and without adding.
#include "isobar/ops/tile.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace isobar::ops {
namespace {

constexpr float sentinel = -777;

struct Aligned {
  explicit Aligned(std::int64_t count) : memory(static_cast<std::size_t>(count) + 16) {}
  float* data() {
    float* const p = memory.data();
    return p + (-(reinterpret_cast<std::intptr_t>(p) / 4) & 15);
  }
  std::vector<float> memory;
};

void check(TileWalk walk, int rows, int columns, bool add) {
  constexpr std::int64_t length = 5, count = 2;
  const bool by_rows = walk == TileWalk::rows_adjacent;
  const std::int64_t step = by_rows ? rows + 3 : count * (length + 4), width = panel_width(columns);
  std::vector<float> a(static_cast<std::size_t>(400)), b(static_cast<std::size_t>(count * length * columns));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::sin(static_cast<float>(i));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<float>(i));
  Aligned panel(count * length * width);
  pack_panel(b.data(), columns, count * length, columns, panel.data());
  // The second run comes first in the panel; rows of c are in reverse order, 40 apart.
  const std::vector<TileRun> runs{{3, length}, {by_rows ? 2 * step : length + 4, 0}};
  std::vector<std::int64_t> places;
  for (int m = 0; m < rows; ++m) places.push_back(40 * (rows - 1 - m));
  std::vector<float> c(static_cast<std::size_t>(40 * rows), sentinel);
  const TileTarget target{c.data(), c.data() + 18, places.data(), columns, add};
  compute_tile(walk, rows, {a.data(), panel.data(), runs, length, step}, target);
  for (int m = 0; m < rows; ++m)
    for (int n = 0; n < 40; ++n) {
      const bool between = n == 16 || n == 17;  // left and right halves need not touch
      const int column = n < 16 ? n : n - 2;
      double expected = sentinel;
      if (!between && column < columns) {
        expected = add ? sentinel : 0;
        for (const TileRun& run : runs)
          for (std::int64_t k = 0; k < length; ++k) {
            const std::int64_t at = run.a + (by_rows ? m + k * step : m * step + k);
            expected += static_cast<double>(a[static_cast<std::size_t>(at)]) *
                        b[static_cast<std::size_t>((run.b + k) * columns + column)];
          }
      }
      ASSERT_NEAR(c[static_cast<std::size_t>(places[static_cast<std::size_t>(m)] + n)], expected, 1e-4)
          << rows << " rows, " << columns << " columns, at " << m << ", " << n;
    }
}

TEST(Tile, ComputesEverySize) {
  for (const TileWalk walk : {TileWalk::rows_adjacent, TileWalk::depth_adjacent})
    for (const bool add : {false, true})
      for (int rows = 1; rows <= tile_rows; ++rows)
        for (int columns = 1; columns <= tile_columns; ++columns) check(walk, rows, columns, add);
}

TEST(Tile, WithoutRunsIsZero) {
  std::vector<float> c(64, sentinel);
  const std::int64_t rows[]{0, 32};
  compute_tile(TileWalk::rows_adjacent, 2, {nullptr, nullptr, {}, 0, 1}, {c.data(), c.data() + 16, rows, 32, false});
  EXPECT_EQ(c, std::vector<float>(64, 0.0f));
}

TEST(Tile, RowsAreCutEvenly) {
  for (std::int64_t count = 1; count < 100; ++count) {
    std::int64_t least = count, most = 0;
    for (std::int64_t i = 0; i < tile_blocks(count); ++i) {
      const std::int64_t size = tile_begin(count, i + 1) - tile_begin(count, i);
      least = std::min(least, size);
      most = std::max(most, size);
    }
    EXPECT_LE(most, tile_rows);
    EXPECT_LE(most - least, 1);
    EXPECT_EQ(tile_begin(count, tile_blocks(count)), count);
  }
}

}  // namespace
}  // namespace isobar::ops
