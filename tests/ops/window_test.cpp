#include "isobar/ops/window.hpp"

#include <gtest/gtest.h>

#include "tests/ops/failure.hpp"

namespace isobar::ops {
namespace {

Window fitted(const char* spec, const Shape& x, bool tiles = false) {
  Args args{Spec(spec)};
  return WindowSpec(args, "window", tiles).fit(x);
}

TEST(Window, SamePutsTheOddElementBehind) {
  const Window w = fitted("w(window=3, stride=2, padding=same)", {1, 8, 7, 4});
  EXPECT_EQ(w.out, (Extents{4, 4}));
  EXPECT_EQ(w.before, (Extents{0, 1}));
  EXPECT_EQ(w.after, (Extents{1, 1}));
}

TEST(Window, ValidCountsWholeWindows) {
  EXPECT_EQ(fitted("w(window=4)", {1, 60, 1}).out, Extents{57});
  EXPECT_EQ(fitted("w(window=2)", {1, 27, 1}, true).out, Extents{13});
  EXPECT_EQ(fitted("w(window=3, dilation=2, padding=1)", {1, 9, 1}).out, Extents{7});
}

// Caffe and ONNX round up, but the last window must start in the input or in the padding before it.
TEST(Window, CeilAddsAWindowThatHangsOver) {
  EXPECT_EQ(fitted("w(window=3, stride=2, ceil=true)", {1, 32, 1}, true).out, Extents{16});
  EXPECT_EQ(fitted("w(window=3, stride=2, ceil=true)", {1, 32, 1}, true).overhang, Extents{1});
  EXPECT_EQ(fitted("w(window=3, stride=2, ceil=true)", {1, 33, 1}, true).out, Extents{16});
  EXPECT_EQ(fitted("w(window=2, stride=2, padding=1, ceil=true)", {1, 3, 1}, true).out, Extents{2});
  EXPECT_EQ(fitted("w(window=3, stride=2, ceil=true)", {1, 2, 1}, true).out, Extents{1});
  EXPECT_NE(failure([] { fitted("w(window=4, stride=2, ceil=true)", {1, 2, 1}, true); }), "");
}

TEST(Window, RefusesWhatDoesNotFit) {
  EXPECT_NE(failure([] {
              fitted("w(window=5)", {1, 4, 4, 2});
            }).find("a window of 5 does not fit x = 1x4x4x2"),
            std::string::npos);
  EXPECT_NE(failure([] {
              fitted("w(window=[3, 3, 3])", {1, 4, 4, 2});
            }).find("has 3 numbers, x has 2 spatial axes"),
            std::string::npos);
  EXPECT_NE(failure([] { fitted("w(window=3)", {2, 4}); }).find("channels-last"), std::string::npos);
  EXPECT_THROW(fitted("w(window=3, stride=0)", {1, 4, 4}), UsageError);
}

}  // namespace
}  // namespace isobar::ops
