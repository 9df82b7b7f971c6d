// A convolution in stages is the convolution: forward, with a function it absorbs, and backward; the first stage reads
// nothing but own rows.
#include "isobar/ops/edges_last.hpp"

#include <gtest/gtest.h>

#include "tests/ops/direct.hpp"

namespace isobar::ops {
namespace {

void fill(std::span<float> numbers, float step) {
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>((i * 7 + 3) % 23) * step - 1;
}

struct StagedCase {
  const char* spec;
  Shape x;       // with the halo
  Interval own;  // rows of it
  std::size_t stages;
};

class EdgesLast : public testing::TestWithParam<StagedCase> {};

TEST_P(EdgesLast, ComputesWhatTheOperatorDoes) {
  const auto& [spec, x, own, stages] = GetParam();
  Direct whole(Spec(spec), {x});
  const auto op = edges_last(whole.op, own, whole.shapes);
  ASSERT_TRUE(op);
  Shape own_shape = x;
  own_shape[1] = own.extent();
  EXPECT_EQ(
      op->forwards(whole.setting(),
                   std::vector<Operand>{whole.in[0], {own_shape, channels_last(own_shape)}, whole.in[1], whole.in[2]})
          .size(),
      stages);
  Direct staged(op, {x, own_shape, whole.shapes[1], whole.shapes[2]});
  staged.in[2].layout = staged.in[3].layout = Layout();  // weights, not data
  fill(whole.x(0), 0.1f), fill(whole.x(1), 0.05f), fill(whole.x(2), 0.2f);
  std::ranges::copy(whole.x(0), staged.x(0).begin());
  std::ranges::copy(whole.x(1), staged.x(2).begin());
  std::ranges::copy(whole.x(2), staged.x(3).begin());
  const std::int64_t row = x.count(2, x.rank()), sample = x[1] * row, mine = own.extent() * row;
  for (std::int64_t n = 0; n < x[0]; ++n)
    std::copy_n(whole.x(0).begin() + n * sample + own.begin * row, mine, staged.x(1).begin() + n * mine);
  whole.forward(), staged.forward();
  for (std::size_t i = 0; i < whole.y().size(); ++i) ASSERT_NEAR(staged.y()[i], whole.y()[i], 1e-5) << i;
  fill(whole.dy(), 0.3f), fill(staged.dy(), 0.3f);
  whole.backward(), staged.backward();
  EXPECT_TRUE(std::ranges::equal(staged.dx(0), whole.dx(0)));
  EXPECT_TRUE(std::ranges::equal(staged.dx(2), whole.dx(1)));
  EXPECT_TRUE(std::ranges::equal(staged.dx(3), whole.dx(2)));
  EXPECT_TRUE(staged.intact());
}

INSTANTIATE_TEST_SUITE_P(
    Convolutions, EdgesLast,
    testing::Values(
        StagedCase{"conv(filters=16, kernel=3, padding=[0, 1, 1])", {1, 7, 5, 6, 16}, {1, 6}, 3},
        StagedCase{"conv(filters=4, kernel=3, padding=[1, 1], padding_after=[0, 1])", {3, 6, 5, 3}, {0, 5}, 2},
        StagedCase{"conv(filters=4, kernel=3, padding=[0, 1])", {2, 9, 5, 3}, {2, 9}, 2},
        StagedCase{"conv(filters=6, kernel=3, stride=2, padding=[0, 1])", {2, 9, 8, 4}, {1, 9}, 2},
        StagedCase{"conv(filters=5, kernel=3, dilation=2, padding=[0, 2], groups=1)", {1, 12, 6, 4}, {2, 10}, 3}),
    [](const auto& test) { return std::to_string(test.index); });

TEST(EdgesLastOf, NothingThatReadsOwnRowsAlone) {
  Direct conv(Spec("conv(filters=4, kernel=3, padding=[0, 1])"), {{1, 4, 5, 3}});
  EXPECT_FALSE(edges_last(conv.op, {1, 3}, conv.shapes));  // every row reads the halo
  EXPECT_FALSE(edges_last(conv.op, {0, 4}, conv.shapes));  // none does
  EXPECT_TRUE(edges_last(conv.op, {0, 3}, conv.shapes));
}

TEST(EdgesLastOf, OperatorsThatAbsorbAFunction) {
  Direct conv(Spec("conv(filters=4, kernel=3, padding=[0, 1])"), {{1, 7, 5, 3}});
  const auto op = edges_last(conv.op, {1, 6}, conv.shapes);
  const Pointwise relu = *make_operator("relu")->pointwise();
  const auto fused = op->absorb(relu);
  ASSERT_TRUE(fused);
  EXPECT_EQ(fused->arity(), 2);
  EXPECT_FALSE(fused->absorb(relu));
}

}  // namespace
}  // namespace isobar::ops
