#include <numeric>
#include <stdexcept>

#include <gtest/gtest.h>

#include "isobar/worlds/cut.hpp"

namespace isobar::worlds {
namespace {

TEST(Merge, AddsNeighboursChannelByChannel) {
  std::vector<float> volume(4 * 4 * 4 * 2);
  std::iota(volume.begin(), volume.end(), 0.0f);
  const std::vector<float> merged = merge_cells(volume, 4, 2, 2);
  ASSERT_EQ(merged.size(), 2u * 2 * 2 * 2);
  const auto at = [&](int i, int j, int k, int c) {
    return volume[static_cast<std::size_t>(((i * 4 + j) * 4 + k) * 2 + c)];
  };
  float sum = 0;  // the last cell, second channel
  for (int i = 2; i < 4; ++i)
    for (int j = 2; j < 4; ++j)
      for (int k = 2; k < 4; ++k) sum += at(i, j, k, 1);
  EXPECT_EQ(merged.back(), sum);
  EXPECT_EQ(std::accumulate(merged.begin(), merged.end(), 0.0), std::accumulate(volume.begin(), volume.end(), 0.0));
  EXPECT_EQ(merge_cells(volume, 4, 2, 1), volume);
}

TEST(Merge, RefusesAFactorThatDoesNotDivide) {
  EXPECT_THROW(merge_cells(std::vector<float>(64), 4, 1, 3), std::logic_error);
  EXPECT_THROW(merge_cells(std::vector<float>(64), 4, 1, 0), std::logic_error);
}

}  // namespace
}  // namespace isobar::worlds
