// Counting particles: known moves of single particles, conservation, and independence of threads.
#include "isobar/worlds/deposit.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "isobar/base/random.hpp"

namespace isobar::worlds {
namespace {

constexpr int size = 8;
constexpr double box = 16;  // cells of 2

Displacement still() {
  Displacement d(size);
  for (auto* order : {&d.first, &d.second})
    for (const Mesh& axis : *order)
      for (int x = 0; x < size; ++x)
        for (int y = 0; y < size; ++y) std::fill_n(axis.row(x, y), size, 0.0f);
  return d;
}

std::vector<float> counted(const Displacement& d, std::vector<GrowthFactors> factors, Counting counting,
                           int threads = 1) {
  std::vector<float> volume(size * size * size * factors.size(), -1.0f);
  deposit(d, box, factors, counting, threads, volume);
  return volume;
}

std::size_t cell(int x, int y, int z) { return static_cast<std::size_t>((x * size + y) * size + z); }

TEST(Deposit, particles_at_rest_fill_every_cell_once) {
  for (Counting counting : {Counting::histogram, Counting::cloud})
    for (float value : counted(still(), {{1, 1}}, counting)) EXPECT_EQ(value, 1.0f);
}

TEST(Deposit, a_moved_particle_is_found_where_it_went) {
  Displacement d = still();
  // By (+2, -2, +1) cells in total, across two faces of the box, half of x from the second order.
  d.first[0].row(7, 1)[3] = 2.0f;
  d.second[0].row(7, 1)[3] = -2.0f;
  d.first[1].row(7, 1)[3] = -4.0f;
  d.first[2].row(7, 1)[3] = 2.0f;
  for (Counting counting : {Counting::histogram, Counting::cloud}) {
    const auto volume = counted(d, {{1, -1}}, counting);
    for (int x = 0; x < size; ++x)
      for (int y = 0; y < size; ++y)
        for (int z = 0; z < size; ++z) {
          const bool left = x == 7 && y == 1 && z == 3, came = x == 1 && y == 7 && z == 4;
          EXPECT_EQ(volume[cell(x, y, z)], left ? 0.0f : came ? 2.0f : 1.0f) << x << ' ' << y << ' ' << z;
        }
  }
}

TEST(Deposit, a_cloud_is_shared_by_the_cells_it_covers) {
  Displacement d = still();
  d.first[0].row(7, 2)[5] = 0.5f;   // a quarter of a cell
  d.first[2].row(7, 2)[5] = -1.0f;  // half a cell
  const auto volume = counted(d, {{1, 0}}, Counting::cloud);
  EXPECT_FLOAT_EQ(volume[cell(7, 2, 5)], 0.375f);
  EXPECT_FLOAT_EQ(volume[cell(7, 2, 4)], 1.375f);
  EXPECT_FLOAT_EQ(volume[cell(0, 2, 5)], 1.125f);
  EXPECT_FLOAT_EQ(volume[cell(0, 2, 4)], 1.125f);
  EXPECT_EQ(volume[cell(0, 3, 5)], 1.0f);
}

TEST(Deposit, channels_are_redshifts_and_threads_do_not_change_a_bit) {
  Displacement d = still();
  for (int axis = 0; axis < 3; ++axis)
    for (int x = 0; x < size; ++x)
      for (int y = 0; y < size; ++y)
        for (int z = 0; z < size; ++z) {
          const auto [a, b] = Random(9).normal_pair(std::uint64_t(axis * 512) + cell(x, y, z));
          d.first[axis].row(x, y)[z] = static_cast<float>(3 * a);
          d.second[axis].row(x, y)[z] = static_cast<float>(b);
        }
  const std::vector<GrowthFactors> factors{{1, -0.43}, {0.5, -0.1}, {0, 0}};
  for (Counting counting : {Counting::histogram, Counting::cloud}) {
    const auto all = counted(d, factors, counting);
    for (std::size_t channel = 0; channel < 3; ++channel) {
      const auto alone = counted(d, {factors[channel]}, counting);
      for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(all[3 * i + channel], alone[i]);
      EXPECT_NEAR(std::accumulate(alone.begin(), alone.end(), 0.0), 512.0, 1e-3);
    }
    for (int threads : {2, 3, 8, 11}) EXPECT_EQ(all, counted(d, factors, counting, threads)) << threads;
  }
}

}  // namespace
}  // namespace isobar::worlds
