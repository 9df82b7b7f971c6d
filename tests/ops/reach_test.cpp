#include "isobar/ops/reach.hpp"

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/ops/window.hpp"

#include "tests/one_thread.hpp"
#include "tests/ops/failure.hpp"
#include "tests/ops/parts.hpp"

namespace isobar::ops {
namespace {

using Windows = std::vector<Interval>;

// What the elements of axis 1 read of input 0.
Windows windows(const std::string& spec, std::vector<Shape> in) {
  const auto op = make_operator(spec);
  for (const Parameter& p : op->parameters(std::vector(in))) in.push_back(p.shape);
  return op->reach(1, in)->in[0].window;
}

TEST(Reach, WindowsByHand) {
  const auto conv = [](const std::string& arguments, std::int64_t extent) {
    return windows("conv(filters=1, " + arguments + ")", {{1, extent, 1}});
  };
  EXPECT_EQ(conv("kernel=3, stride=2, padding=same", 8), (Windows{{0, 3}, {2, 5}, {4, 7}, {6, 8}}));
  EXPECT_EQ(conv("kernel=3, stride=2, padding=1", 7), (Windows{{0, 2}, {1, 4}, {3, 6}, {5, 7}}));
  EXPECT_EQ(conv("kernel=3, dilation=2, padding=1", 5), (Windows{{1, 4}, {0, 5}, {1, 4}})) << "between gaps is nothing";
  EXPECT_EQ(conv("kernel=1, stride=2", 5), (Windows{{0, 1}, {2, 3}, {4, 5}}));
  EXPECT_EQ(conv("kernel=1, padding=1", 2), (Windows{{}, {0, 1}, {1, 2}, {}})) << "padding alone";
  EXPECT_EQ(windows("max_pool", {{1, 7, 1}}), (Windows{{0, 2}, {2, 4}, {4, 6}})) << "nobody reads the last";
  EXPECT_EQ(windows("max_pool(window=3, stride=2, ceil=true)", {{1, 6, 1}}), (Windows{{0, 3}, {2, 5}, {4, 6}}));
  EXPECT_EQ(windows("deconv(filters=1, kernel=3, stride=2, padding=same)", {{1, 2, 1}}),
            (Windows{{0, 1}, {0, 1}, {0, 2}, {1, 2}}));
  EXPECT_EQ(windows("deconv(filters=1, kernel=1, stride=2)", {{1, 2, 1}}), (Windows{{0, 1}, {0, 1}, {1, 2}}));
  EXPECT_EQ(windows("resize(factor=2, kind=linear)", {{1, 2, 1}}), (Windows{{0, 1}, {0, 2}, {0, 2}, {1, 2}}));
  EXPECT_EQ(windows("slice(axes=[1], begin=[-1], end=[-100], step=[-2])", {{1, 5, 1}}),
            (Windows{{4, 5}, {2, 3}, {0, 1}}));
  EXPECT_EQ(windows("pad(before=[0, 1, 0], after=[0, -1, 0])", {{1, 3, 1}}), (Windows{{}, {0, 1}, {1, 2}}));
  EXPECT_EQ(windows("lrn(size=4, region=within)", {{1, 4, 1, 1}}), (Windows{{0, 3}, {0, 4}, {1, 4}, {2, 4}}));
  EXPECT_EQ(windows("space_to_depth", {{1, 4, 1}}), (Windows{{0, 2}, {2, 4}}));
}

// The interval of a part by the formula for a convolution, outputs [b, e) with padding q:
//   [b * stride - q, (e - 1) * stride - q + (kernel - 1) * dilation + 1), as far as it lies in the input
TEST(Reach, IsTheFormulaOfHalos) {
  for (std::int64_t kernel = 1; kernel <= 4; ++kernel)
    for (std::int64_t stride = 1; stride <= 3; ++stride)
      for (std::int64_t q = 0; q < kernel; ++q) {
        const Shape x{1, 11, 1};
        Args args{Spec(fmt::format("w(window={}, stride={}, padding={})", kernel, stride, q))};
        const Window w = WindowSpec(args, "window", false).fit(x);
        const Reach::Input input{1, w.reads(0, x[1])};
        for (std::int64_t b = 0; b < w.out[0]; ++b)
          for (std::int64_t e = b + 1; e <= w.out[0]; ++e) {
            const std::int64_t from = b * stride - q, to = (e - 1) * stride - q + kernel;
            EXPECT_EQ(input.read_by({b, e}), (Interval{std::max<std::int64_t>(from, 0), std::min(to, x[1])}));
          }
      }
}

TEST(Reach, OnlyPartsAtTheEdgeArePadded) {
  Args args{Spec("w(window=3, stride=2, padding=1)")};
  const WindowSpec spec(args, "window", false);
  const Window whole = spec.fit({1, 9, 1});
  ASSERT_EQ(whole.out, Extents{5});
  const Reach reach = window_reach(whole, 1, std::vector<Shape>{{1, 9, 1}});
  const auto part = [&](Interval out) {
    const Crop crop{1, out, {{1, 9, 1}}, {reach.in[0].read_by(out)}};
    return spec.cropped(crop).fit(crop.part_shapes(reach)[0]);
  };
  EXPECT_EQ(part({0, 2}).before, Extents{1});
  EXPECT_EQ(part({0, 2}).after, Extents{0});
  EXPECT_EQ(part({2, 4}).before, Extents{0});
  EXPECT_EQ(part({2, 4}).after, Extents{0});
  EXPECT_EQ(part({4, 5}).before, Extents{0});
  EXPECT_EQ(part({4, 5}).after, Extents{1});
  EXPECT_EQ(part({2, 4}).out, Extents{2});
}

TEST(Reach, OtherAxesOfInputs) {
  const auto axes = [](const std::string& spec, int axis, std::vector<Shape> in) {
    const auto op = make_operator(spec);
    const std::size_t data = in.size();
    for (const Parameter& p : op->parameters(std::span(in).first(data))) in.push_back(p.shape);
    std::vector<int> list;
    const Reach reach = op->reach(axis, in).value();
    for (const Reach::Input& input : reach.in) list.push_back(input.axis);
    return list;
  };
  EXPECT_EQ(axes("conv(filters=2)", 2, {{1, 5, 5, 3}}), (std::vector{2, -1, -1})) << "weights are read whole";
  EXPECT_EQ(axes("mul", 1, {{2, 3, 3, 4}, {4}}), (std::vector{1, -1}));
  EXPECT_EQ(axes("mul", 3, {{2, 3, 3, 4}, {4}}), (std::vector{3, 0}));
  EXPECT_EQ(axes("mul", 1, {{2, 3, 3, 4}, {2, 1, 1, 4}}), (std::vector{1, -1})) << "repeated along the axis";
  EXPECT_EQ(axes("transpose(order=[0, 3, 1, 2])", 1, {{2, 4, 5, 3}}), std::vector{3});
  EXPECT_EQ(axes("reduce(axes=[1])", 1, {{2, 4, 5}}), std::vector{2});
  EXPECT_EQ(axes("global_pool", 1, {{2, 4, 5, 6}}), std::vector{3});
  EXPECT_EQ(axes("matmul", 1, {{2, 4, 5}, {2, 5, 3}}), (std::vector{1, -1}));
  EXPECT_EQ(axes("matmul(transpose_b=true)", 2, {{2, 4, 5}, {2, 3, 5}}), (std::vector{-1, 1}));
}

TEST(Reach, SaysWhatPartsHaveToShare) {
  const std::vector<Shape> channels{{2, 3, 4}, {4}, {4}, {4}, {4}};
  EXPECT_TRUE(make_operator("batch_norm")->reach(1, channels)->statistics);
  EXPECT_FALSE(make_operator("batch_norm(frozen=true)")->reach(1, channels)->statistics);
  const std::vector<Shape> classes{{2, 5, 3}, {2, 5}};
  const auto mean = make_operator("softmax_cross_entropy")->reach(1, classes);
  EXPECT_TRUE(mean->summed);
  EXPECT_FALSE(mean->divisor);
  EXPECT_TRUE(make_operator("nll(reduction=weighted_mean)")->reach(1, classes)->divisor);
  EXPECT_FALSE(make_operator("nll(reduction=weighted_mean)")->reach(2, classes)) << "all classes are needed";
}

TEST(Reach, RefusesWhatCannotBeCut) {
  const auto cut = [](const std::string& spec, int axis, Interval out, const Shape& x) {
    return failure([&] {
      const auto op = make_operator(spec);
      std::vector<Shape> in{x};
      for (const Parameter& p : op->parameters(std::vector{x})) in.push_back(p.shape);
      cut_operator(op, axis, out, in);
    });
  };
  EXPECT_EQ(cut("dense(units=3)", 1, {0, 1}, {2, 4}), "axis 1 cannot be cut: every element of it needs the whole axis");
  EXPECT_EQ(cut("conv(filters=1, kernel=1, padding=2)", 1, {0, 2}, {1, 4, 1}),
            "elements 0 to 2 of axis 1 read padding alone; the part must be larger");
  EXPECT_EQ(cut("relu", 1, {2, 2}, {1, 4}), "elements 2 to 2 of axis 1 are no part of its 4");
  EXPECT_EQ(cut("relu", 1, {2, 5}, {1, 4}), "elements 2 to 5 of axis 1 are no part of its 4");
  EXPECT_EQ(cut("expand(shape=[1, 4, 2])", 1, {2, 5}, {1, 1, 2}), "elements 2 to 5 of axis 1 are no part of its 4");
}

// Every part of an axis, where strides leave gaps, windows hang over and padding is uneven.
TEST(Reach, EveryPartIsThatOfTheWhole) {
  const OneThread one_thread;
  for (const auto& [spec, x] : std::vector<std::pair<std::string, Shape>>{
           {"conv(filters=2, kernel=3, stride=2, padding=same)", {1, 8, 2}},
           {"conv(filters=2, kernel=4, padding=[3], padding_after=[1])", {1, 5, 2}},
           {"conv(filters=2, kernel=3, dilation=3, padding=4)", {1, 6, 2}},
           {"deconv(filters=2, kernel=2, stride=4, padding=same)", {1, 3, 2}},
           {"deconv(filters=2, kernel=3, stride=2, padding=1, output_padding=1)", {1, 4, 2}},
           {"deconv(filters=2, kernel=3, dilation=2, stride=3)", {1, 3, 2}},
           {"max_pool(window=3, stride=2, padding=1, ceil=true)", {1, 8, 2}},
           {"average_pool(window=3, stride=2, padding=1, ceil=true)", {1, 8, 2}},
           {"average_pool(window=3, stride=2, padding=1, ceil=true, include_padding=true)", {1, 8, 2}},
           {"average_pool(window=2, stride=3, dilation=2, ceil=true, include_padding=true)", {1, 11, 2}},
           {"resize(size=11, kind=cubic)", {1, 5, 2}},
           {"pad(before=[0, 3, 0], after=[0, 2, 0], mode=edge)", {1, 3, 2}},
           {"slice(axes=[1], begin=[1], end=[10], step=[3])", {1, 10, 2}},
       }) {
    const UsedOperator whole = used({spec, {x}});
    const Shape y = whole.out()[0];
    const Computed forward = compute(whole, {});
    const Floats all = made_gradient(y, 0);
    for (std::int64_t begin = 0; begin < y[1]; ++begin)
      for (std::int64_t end = begin + 1; end <= y[1]; ++end) {
        const Interval read = whole.op->reach(1, whole.shapes())->in[0].read_by({begin, end});
        if (read.empty()) continue;
        const Floats dy = taken(all, y, 1, {begin, end});
        const UsedOperator part = used_parts(whole, 1, {{begin, end}})[0];
        ASSERT_EQ(part.out()[0][1], end - begin) << spec;
        const Computed got = compute(part, {dy});
        const Floats expected = taken(forward.y[0], y, 1, {begin, end});
        for (std::size_t i = 0; i < expected.size(); ++i)
          ASSERT_NEAR(got.y[0][i], expected[i], 1e-5) << spec << " from " << begin << " to " << end;
        // The whole's gradient if nothing but this part has one.
        Floats only(all.size());
        add_to(only, y, 1, {begin, end}, dy);
        Floats dx(whole.values[0].size());
        add_to(dx, x, 1, read, got.dx[0]);
        const Computed back = compute(whole, {only});
        for (std::size_t i = 0; i < dx.size(); ++i)
          ASSERT_NEAR(dx[i], back.dx[0][i], 1e-5) << spec << " from " << begin << " to " << end;
      }
  }
}

// Runs of elements that are longer than what is drawn at a time, and that begin anywhere.
TEST(Reach, PartsOfDropoutHaveTheMaskOfTheWhole) {
  const Shape x{2, 5, 37, 301};
  const UsedOperator whole = used({"dropout(rate=0.4)", {x}});
  const Floats y = compute(whole, {}).y[0];
  for (int axis = 1; axis < 4; ++axis) {
    const Interval cut{1, x[axis] - 2};
    const UsedOperator part = used_parts(whole, axis, {cut})[0];
    EXPECT_TRUE(compute(part, {}).y[0] == taken(y, x, axis, cut)) << axis;
    for (int other = 1; other < 4; ++other) {
      const Interval again{1, part.data[0][other]};
      const UsedOperator corner = used_parts(part, other, {again})[0];
      EXPECT_TRUE(compute(corner, {}).y[0] == taken(taken(y, x, axis, cut), part.data[0], other, again)) << other;
    }
  }
}

}  // namespace
}  // namespace isobar::ops
