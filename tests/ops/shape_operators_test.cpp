// Operators on shapes: invalid arguments and corner cases; the conformance tests check their numbers.
#include <omp.h>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/base/random.hpp"

#include "tests/ops/direct.hpp"
#include "tests/ops/failure.hpp"

namespace isobar::ops {
namespace {

TEST(Reshape, FillsInWhatIsLeft) {
  EXPECT_EQ(Direct("reshape(shape=[3, -1])", {{2, 12}}).out[0], (Shape{2, 3, 4}));
  EXPECT_EQ(failure([] {
              Direct("reshape(shape=[5, -1])", {{2, 12}});
            }),
            "x = 2x12 has 12 numbers per sample, which do not fit shape [5, -1]");
  EXPECT_EQ(failure([] {
              Direct("reshape(shape=[3, 5])", {{2, 12}});
            }),
            "x = 2x12 has 12 numbers per sample, which do not fit shape [3, 5]");
  EXPECT_EQ(Direct("reshape(whole=[-1, 8])", {{2, 12}}).out[0], (Shape{3, 8}));
  EXPECT_EQ(failure([] {
              Direct("reshape(whole=[7, -1])", {{2, 12}});
            }),
            "x = 2x12 has 24 numbers, which do not fit whole [7, -1]");
  EXPECT_THROW(make_operator("reshape(shape=[-1, -1])"), UsageError);
  EXPECT_THROW(make_operator("reshape(shape=[0])"), UsageError);
}

TEST(Views, HaveNoWork) {
  for (const char* spec : {"flatten", "reshape(shape=[-1])"}) {
    Direct view(spec, {{2, 3, 4}});
    EXPECT_FALSE(view.op->forward(view.setting(), view.in).run);
    EXPECT_FALSE(view.op->backward(view.setting(), view.in)[0].run);
    EXPECT_EQ(view.out[0], (Shape{2, 12}));
  }
}

TEST(Add, RefusesOtherShapes) {
  EXPECT_EQ(failure([] { Direct("add", {{2, 3}}); }), "has 1 input, needs at least 2");
  EXPECT_EQ(failure([] {
              Direct("add", {{2, 3}, {2, 4}});
            }),
            "input 1 is 2x4, input 0 is 2x3: counted from the last, axes must be equal or 1");
}

TEST(Concat, JoinsAlongTheChannels) {
  EXPECT_EQ(Direct("concat", {{2, 3, 4}, {2, 3, 5}}).out[0], (Shape{2, 3, 9}));
  EXPECT_EQ(failure([] {
              Direct("concat", {{2, 3, 4}, {2, 2, 4}});
            }),
            "input 1 is 2x2x4, input 0 is 2x3x4: all axes but axis 2 must be equal");
  EXPECT_EQ(failure([] {
              Direct("concat(axis=3)", {{2, 3, 4}});
            }),
            "axis = 3 is not an axis of x = 2x3x4; valid: -3 to 2");
  EXPECT_EQ(Direct("concat(axis=0)", {{2, 3}, {5, 3}}).out[0], (Shape{7, 3}));
}

TEST(Transpose, RefusesWhatIsNoOrder) {
  EXPECT_EQ(failure([] {
              Direct("transpose(order=[0, 1])", {{2, 3, 4}});
            }),
            "order [0, 1] names 2 axes, x = 2x3x4 has 3");
  EXPECT_EQ(failure([] { Direct("transpose(order=[0, -2, 1])", {{2, 3, 4}}); }), "axis 1 of x = 2x3x4 is named twice");
}

TEST(Transpose, IsAViewWhereNothingMoves) {
  Direct moves("transpose(order=[1, 0, 2])", {{2, 3, 4}}), stays("transpose(order=[1, 0, 2])", {{1, 3, 4}});
  EXPECT_TRUE(moves.op->forward(moves.setting(), moves.in).run);
  EXPECT_FALSE(stays.op->forward(stays.setting(), stays.in).run);
}

TEST(Slice, RefusesToBeEmpty) {
  EXPECT_EQ(failure([] {
              Direct("slice(axes=[1], begin=[3], end=[2])", {{2, 5}});
            }),
            "axis 1 of x = 2x5 has nothing from 3 to 2 by 1");
  EXPECT_THROW(make_operator("slice(axes=[1], begin=[0], end=[2], step=[0])"), UsageError);
  EXPECT_THROW(make_operator("slice(axes=[1, 2], begin=[0], end=[2, 2])"), UsageError);
}

TEST(Pad, NamesEveryAxis) {
  EXPECT_EQ(failure([] { Direct("pad(before=[1, 1])", {{2, 3, 4}}); }), "before names 2 axes, x = 2x3x4 has 3");
  EXPECT_EQ(failure([] {
              Direct("pad(before=[0, -2], after=[0, -1])", {{2, 3}});
            }),
            "cropping axis 1 of x = 2x3 by 2 and 1 leaves nothing");
}

// A single reflected number stays the same; three in each direction goes around more than once.
TEST(Pad, ReflectsAsOftenAsNeeded) {
  Direct f("pad(before=[3, 3], after=[0, 3], mode=reflect)", {{1, 2}});
  std::ranges::copy(std::vector{1.f, 2.f}, f.x(0).begin());
  f.forward();
  EXPECT_EQ(std::vector(f.y().begin(), f.y().begin() + 8), (std::vector{2.f, 1.f, 2.f, 1.f, 2.f, 1.f, 2.f, 1.f}));
  std::ranges::fill(f.dy(), 1.0f);
  f.backward();
  EXPECT_EQ(std::vector(f.dx(0).begin(), f.dx(0).end()), (std::vector{16.f, 16.f}));
  EXPECT_TRUE(f.intact());
}

TEST(Embedding, RefusesWhatIsNoRow) {
  for (const float wrong : {3.0f, -4.0f, 0.5f}) {
    Direct f("embedding(rows=3, width=2)", {{2, 4}});
    std::ranges::fill(f.x(0), 1.0f);
    std::ranges::fill(f.x(1), 0.0f);
    f.x(0)[6] = wrong;
    EXPECT_EQ(failure([&] { f.forward(); }),
              fmt::format("index {} of row 1, position 2 is out of range; valid: whole numbers from -3 to 2", wrong));
  }
}

TEST(Split, RefusesWhatDoesNotAddUp) {
  EXPECT_EQ(failure([] { Direct("split(parts=2)", {{2, 5}}); }), "axis 1 of x = 2x5 cannot be cut into 2 equal parts");
  EXPECT_EQ(failure([] {
              Direct("split(axis=0, sizes=[1, 2])", {{2, 5}});
            }),
            "sizes [1, 2] do not add up to the 2 of axis 0 of x = 2x5");
}

TEST(Expand, RefusesOtherShapes) {
  EXPECT_EQ(failure([] {
              Direct("expand(shape=[2, 4])", {{2, 3}});
            }),
            "x = 2x3 cannot be expanded to 2x4: counted from the last, axes must be equal or 1");
}

TEST(DepthToSpace, RefusesWhatIsNoMultiple) {
  EXPECT_EQ(failure([] {
              Direct("depth_to_space", {{2, 3, 3, 6}});
            }),
            "x = 2x3x3x6: its 6 channels are not a multiple of 4, the positions of a block");
  EXPECT_EQ(failure([] {
              Direct("space_to_depth", {{2, 4, 3, 6}});
            }),
            "x = 2x4x3x6: axis 2 is not a multiple of block = 2");
}

// Many picks of few rows: whichever thread adds them up, the order is that of the picks.
TEST(Gather, GradientIsBitwiseTheSameForAnyNumberOfThreads) {
  const Random random(1);
  const int threads = omp_get_max_threads();
  std::vector<std::vector<float>> seen;
  for (const int count : {1, 3}) {
    omp_set_num_threads(count);
    Direct f("gather", {{30, 1000}, {400}});
    for (std::size_t i = 0; i < 400; ++i) f.x(1)[i] = static_cast<float>(random.below(i, 30));
    for (std::size_t i = 0; i < f.dy().size(); ++i) f.dy()[i] = static_cast<float>(random.uniform(i) - 0.5);
    f.in[1].needs_gradient = false;
    f.backward();
    EXPECT_TRUE(f.intact());
    seen.emplace_back(f.dx(0).begin(), f.dx(0).end());
  }
  omp_set_num_threads(threads);
  EXPECT_EQ(seen[0], seen[1]);
}

}  // namespace
}  // namespace isobar::ops
