#include "isobar/optim/sweep.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace isobar::optim {
namespace {

TEST(Sweep, TouchesEveryElementOnce) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, sweep_chunk - 1, sweep_chunk, sweep_chunk + 1,
                                  2 * sweep_chunk, 3 * sweep_chunk + 5}) {
    std::vector<int> touched(count);
    sweep(count, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++touched[i];
    });
    EXPECT_EQ(std::count(touched.begin(), touched.end(), 1), static_cast<std::ptrdiff_t>(count));
  }
}

TEST(Sweep, ChunksBeginAtMultiplesOfTheirSize) {
  sweep(3 * sweep_chunk + 5, [](std::size_t begin, std::size_t end) {
    EXPECT_EQ(begin % sweep_chunk, 0u);
    EXPECT_LE(end - begin, sweep_chunk);
  });
}

}  // namespace
}  // namespace isobar::optim
