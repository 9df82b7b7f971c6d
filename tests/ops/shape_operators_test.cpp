// flatten, reshape, add and concat: what they refuse; their numbers are checked by the conformance tests.
#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

#include "tests/ops/direct.hpp"
#include "tests/ops/failure.hpp"

namespace isobar::ops {
namespace {

TEST(Reshape, FillsInWhatIsLeft) {
  EXPECT_EQ(Direct("reshape(shape=[3, -1])", {{2, 12}}).out[0], (Shape{2, 3, 4}));
  EXPECT_EQ(failure([] {
              Direct("reshape(shape=[5, -1])", {{2, 12}});
            }),
            "x = 2x12 has 12 numbers a sample, shape [5, -1] does not hold them");
  EXPECT_EQ(failure([] {
              Direct("reshape(shape=[3, 5])", {{2, 12}});
            }),
            "x = 2x12 has 12 numbers a sample, shape [3, 5] does not hold them");
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
            "input 1 is 2x4, input 0 is 2x3: the shapes must be equal");
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
            "axis = 3 is not an axis of x = 2x3x4 behind the batch; valid: 1 to 2");
  EXPECT_THROW(make_operator("concat(axis=0)"), UsageError);
}

}  // namespace
}  // namespace isobar::ops
