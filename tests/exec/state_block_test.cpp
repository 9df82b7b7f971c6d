#include "isobar/exec/state_block.hpp"

#include <gtest/gtest.h>

namespace isobar::exec {
namespace {

using Scope = StateBlock::Scope;

TEST(StateBlocks, NumbersComeInOrderAndGoBackWithTheirType) {
  std::vector<float> array{1, 2};
  double rate = 0.5, own = 7;
  std::int64_t index = 3;
  const StateBlocks blocks{{"array", std::span(array)},
                           {"index", std::span(&index, 1)},
                           {"own", std::span(&own, 1), Scope::each_rank},
                           {"rate", std::span(&rate, 1)}};
  EXPECT_EQ(blocks[0].floats().data(), array.data());
  EXPECT_TRUE(blocks[1].floats().empty());
  EXPECT_EQ(numbers_of(blocks, Scope::once), (std::vector<double>{3, 0.5}));
  EXPECT_EQ(numbers_of(blocks, Scope::each_rank), (std::vector<double>{7}));
  set_numbers(blocks, Scope::once, std::vector<double>{9, 0.25});
  EXPECT_EQ(index, 9);
  EXPECT_EQ(rate, 0.25);
  EXPECT_EQ(own, 7);
  EXPECT_ANY_THROW(set_numbers(blocks, Scope::each_rank, std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace isobar::exec
