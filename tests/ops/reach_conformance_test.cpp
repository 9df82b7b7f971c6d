// Conformance of reach and parts: catalogue x problems x axes. Parts that get exactly what the reach names compute
// the whole, and nothing outside of it changes them.
#include <cmath>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

#include "tests/one_thread.hpp"
#include "tests/ops/parts.hpp"

namespace isobar::ops {
static void PrintTo(const Problem& problem, std::ostream* out) { *out << problem.spec; }

namespace {

void expect_close(const Floats& got, const Floats& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  float largest = 1;
  for (const float v : expected) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-5f * largest) << what << " at " << i;
}

// Uneven parts of an axis, and as many as there are elements if there are few.
std::vector<std::vector<Interval>> ways_to_cut(std::int64_t extent) {
  std::vector<std::vector<Interval>> ways;
  if (extent >= 2) ways.push_back({{0, (extent + 1) / 3}, {(extent + 1) / 3, extent}});
  if (extent >= 3) ways.push_back({{0, 1}, {1, extent - 1}, {extent - 1, extent}});
  return ways;
}

std::int64_t extent_of(const UsedOperator& use, const Reach& reach, int axis) {
  return reach.summed ? use.data[0][axis] : use.out()[0][axis];
}

int axes_of(const UsedOperator& use) { return use.op->is_loss() ? use.data[0].rank() : use.out()[0].rank(); }

// A part of padding alone is refused; then this way to cut is none.
bool refused(const UsedOperator& whole, const Reach& reach, int axis, const std::vector<Interval>& cuts) {
  bool any = false;
  for (const Interval& cut : cuts)
    for (const Reach::Input& in : reach.in)
      if (in.axis >= 0 && in.read_by(cut).empty()) {
        EXPECT_THROW(cut_operator(whole.op, axis, cut, whole.shapes()), Error);
        any = true;
      }
  return any;
}

// Each way of cutting makes the whole; with `deeper`, the largest part of each is cut along all axes once more.
void expect_parts_make_the_whole(const UsedOperator& whole, bool deeper, const std::string& name) {
  for (int axis = 1; axis < axes_of(whole); ++axis) {
    const std::optional<Reach> reach = whole.op->reach(axis, whole.shapes());
    if (!reach || (reach->statistics && whole.phase == Phase::training)) continue;
    const bool backward = whole.phase == Phase::training;
    const std::vector<Shape> out = whole.out();
    std::vector<Floats> dy;
    for (std::size_t i = 0; i < out.size() && backward; ++i) dy.push_back(made_gradient(out[i], i));
    const Computed expected = compute(whole, dy);
    for (const std::vector<Interval>& cuts : ways_to_cut(extent_of(whole, *reach, axis))) {
      if (refused(whole, *reach, axis, cuts)) continue;
      const std::string what = fmt::format("{}, axis {} in {} parts", name, axis, cuts.size());
      std::vector<Floats> dx = expected.dx;
      for (Floats& d : dx) std::ranges::fill(d, 0.0f);
      Floats total(reach->summed ? 1 : 0);
      const std::vector<UsedOperator> parts = used_parts(whole, axis, cuts);
      for (std::size_t p = 0; p < parts.size(); ++p) {
        std::vector<Floats> part_dy;
        for (std::size_t i = 0; i < dy.size(); ++i)
          part_dy.push_back(reach->summed ? dy[i] : taken(dy[i], out[i], axis, cuts[p]));
        const Computed got = compute(parts[p], part_dy);
        for (std::size_t i = 0; i < out.size(); ++i) {
          if (reach->summed) total[0] += got.y[i][0];
          else
            expect_close(got.y[i], taken(expected.y[i], out[i], axis, cuts[p]),
                         fmt::format("{}: output {} of part {}", what, i, p));
        }
        for (std::size_t i = 0; i < dx.size(); ++i) {
          if (!whole.trained(i)) continue;
          const Reach::Input& in = reach->in[i];
          const Shape shape = whole.shapes()[i];
          const Interval all{0, shape.rank() > 0 ? shape[0] : 1};
          if (in.axis >= 0) add_to(dx[i], shape, in.axis, in.read_by(cuts[p]), got.dx[i]);
          else add_to(dx[i], shape.rank() > 0 ? shape : Shape{1}, 0, all, got.dx[i]);
        }
        if (deeper && parts.size() == 2 && p == 1)
          expect_parts_make_the_whole(parts[p], false, fmt::format("{}: part {}", what, p));
        if (testing::Test::HasFatalFailure()) return;
      }
      if (reach->summed) expect_close(total, expected.y[0], what + ": sum");
      for (std::size_t i = 0; i < dx.size(); ++i)
        expect_close(dx[i], expected.dx[i], fmt::format("{}: gradient of input {}", what, i));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

class ReachConformance : public testing::TestWithParam<Problem> {
 private:
  OneThread one_thread_;
};

TEST_P(ReachConformance, PartsMakeTheWhole) {
  UsedOperator whole = used(GetParam());
  for (const Phase phase : {Phase::training, Phase::inference}) {
    whole.phase = phase;
    expect_parts_make_the_whole(whole, phase == Phase::training, "cut");
  }
}

// What a pass may fuse behind an operator does not depend on whether it was cut before.
TEST_P(ReachConformance, FusedPartsMakeTheFusedWhole) {
  const auto relu = make_operator("leaky_relu(slope=0.2)")->pointwise();
  UsedOperator whole = used(GetParam()), fused = whole;
  fused.op = whole.op->absorb(*relu);
  if (!fused.op) return;
  expect_parts_make_the_whole(fused, false, "fused, then cut");
  fused.phase = whole.phase = Phase::inference;
  const std::vector<Shape> out = whole.out();
  const Computed expected = compute(fused, {});
  for (int axis = 1; axis < axes_of(whole); ++axis) {
    const std::optional<Reach> reach = whole.op->reach(axis, whole.shapes());
    if (!reach) continue;
    for (const std::vector<Interval>& cuts : ways_to_cut(out[0][axis])) {
      if (refused(whole, *reach, axis, cuts)) continue;
      std::vector<UsedOperator> parts = used_parts(whole, axis, cuts);
      for (std::size_t p = 0; p < parts.size(); ++p) {
        parts[p].op = parts[p].op->absorb(*relu);
        ASSERT_TRUE(parts[p].op);
        expect_close(compute(parts[p], {}).y[0], taken(expected.y[0], out[0], axis, cuts[p]),
                     fmt::format("cut along axis {}, then fused", axis));
      }
    }
  }
}

// Other numbers at one element of an axis change outputs that read it, and no others. Windows are also the smallest
// where that depends on nothing but shapes.
TEST_P(ReachConformance, NothingElseIsRead) {
  UsedOperator whole = used(GetParam());
  if (whole.op->is_loss()) return;
  whole.phase = Phase::inference;
  const std::string name = Spec(GetParam().spec).name();
  constexpr std::array exact{"average_pool", "conv", "lrn", "max_pool", "pad", "resize", "slice", "space_to_depth"};
  const bool is_exact = std::ranges::find(exact, name) != exact.end();
  const Computed before = compute(whole, {});
  for (int axis = 1; axis < axes_of(whole); ++axis) {
    const std::optional<Reach> reach = whole.op->reach(axis, whole.shapes());
    if (!reach) continue;
    for (std::size_t i = 0; i < whole.data.size(); ++i) {
      const Reach::Input& in = reach->in[i];
      if (in.axis < 0 || (whole.picks && i + 1 == whole.data.size())) continue;
      for (std::int64_t e = 0; e < whole.data[i][in.axis]; ++e) {
        UsedOperator other = whole;
        Shape one = whole.data[i];
        one[in.axis] = 1;
        add_to(other.values[i], whole.data[i], in.axis, {e, e + 1}, Floats(static_cast<std::size_t>(one.count()), 100));
        const Computed after = compute(other, {});
        for (std::size_t k = 0; k < after.y.size(); ++k) {
          const Shape y = whole.out()[k];
          ASSERT_EQ(std::ssize(in.window), y[axis]);
          for (std::int64_t o = 0; o < y[axis]; ++o) {
            const Interval window = in.window[static_cast<std::size_t>(o)];
            const Floats was = taken(before.y[k], y, axis, {o, o + 1}), is = taken(after.y[k], y, axis, {o, o + 1});
            const bool differs = !std::ranges::equal(was, is, [](float a, float b) { return std::abs(a - b) < 0.01f; });
            const bool read = e >= window.begin && e < window.end;
            EXPECT_FALSE(differs && !read)
                << "axis " << axis << ": output " << o << " reads " << e << " of input " << i;
            const bool edge = read && (e == window.begin || e == window.end - 1);
            EXPECT_TRUE(differs || !is_exact || !edge) << "axis " << axis << ": output " << o << " does not read " << e;
          }
        }
      }
    }
  }
}

std::vector<Problem> all_problems() {
  std::vector<Problem> list;
  for (const OperatorRow* row : operators())
    for (const Problem& problem : row->problems) list.push_back(problem);
  return list;
}

std::string problem_name(const testing::TestParamInfo<Problem>& info) {
  return fmt::format("{}_{}_{}", Spec(info.param.spec).name(), info.param.in[0].str(), info.index);
}

INSTANTIATE_TEST_SUITE_P(Operators, ReachConformance, testing::ValuesIn(all_problems()), problem_name);

// Operators that cannot be cut along any axis of any of their problems.
TEST(Reach, OnlyTheseNeedWholeAxes) {
  std::vector<std::string> whole;
  for (const OperatorRow* row : operators()) {
    if (row->problems.empty()) continue;  // it talks with other ranks
    const bool cut = std::ranges::any_of(row->problems, [](const Problem& problem) {
      const UsedOperator use = used(problem);
      for (int axis = 1; axis < axes_of(use); ++axis)
        if (use.op->reach(axis, use.shapes())) return true;
      return false;
    });
    if (!cut) whole.emplace_back(row->name);
  }
  EXPECT_EQ(whole, (std::vector<std::string>{"attention", "depth_to_space", "flatten", "gather", "lstm", "reshape"}));
}

}  // namespace
}  // namespace isobar::ops
