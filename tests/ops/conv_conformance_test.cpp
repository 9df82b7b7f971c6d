// Every method for convolutions, on every problem it applies to: against oneDNN's primitives, whole and in pieces, and
// as the gradient of a bilinear function: <y(x, w), z> = <x, dx(w, z)> = <w, dw(x, z)>.
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "isobar/base/instructions.hpp"
#include "isobar/base/random.hpp"
#include "isobar/ops/conv_methods.hpp"
#include "isobar/ops/conv_pieces.hpp"

#include "tests/ops/direct.hpp"

namespace isobar::ops {
namespace {

struct Trial {
  std::string spec;
  Shape x;
  bool rectified = false;
};

const std::vector<Trial>& trials() {
  static const std::vector<Trial> all{
      {"conv(filters=32, kernel=3, padding=same)", {3, 13, 9, 16}, true},
      {"conv(filters=19, kernel=3, padding=1)", {2, 7, 12, 5}},
      {"conv(filters=8, kernel=3, bias=false)", {2, 9, 9, 33}, true},
      {"conv(filters=6, kernel=3, padding=2)", {1, 4, 3, 7}},
      {"conv(filters=12, kernel=3, padding=same, groups=2)", {3, 10, 8, 8}},
      {"conv(filters=83, kernel=3, dilation=2, padding=same, groups=83)", {2, 6, 7, 83}, true},
      {"conv(filters=18, kernel=[3, 2], stride=2, padding=same, groups=18, bias=false)", {2, 5, 4, 18}},
      {"conv(filters=20, kernel=5, padding=same)", {3, 17, 14, 6}, true},
      {"conv(filters=4, kernel=7, padding=[3, 0], padding_after=[2, 1], bias=false)", {2, 20, 19, 18}},
      {"conv(filters=3, kernel=9, padding=same)", {2, 33, 12, 4}},
      {"conv(filters=8, kernel=4, padding=same, groups=2)", {2, 15, 16, 6}},
      {"conv(filters=32, kernel=3, stride=2, padding=same)", {3, 11, 8, 16}, true},
      {"conv(filters=24, kernel=1)", {4, 5, 6, 20}, true},
      {"conv(filters=6, kernel=[3, 2], stride=[2, 1], padding=[1, 0], padding_after=[0, 1], groups=2)", {3, 7, 5, 4}},
      {"conv(filters=4, kernel=3, dilation=2, padding=same)", {2, 9, 8, 2}},
      {"conv(filters=5, kernel=4)", {3, 9, 3}},
      {"conv(filters=32, kernel=3, padding=same)", {2, 5, 6, 4, 4}},
  };
  return all;
}

void fill(std::span<float> values, std::uint64_t key) {
  const Random random(key);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(random.uniform(i) * 2 - 1);
}

struct Result {
  std::vector<float> y, dx, dw, db;
  std::map<Direction, bool> applied;
};

std::vector<float> conv_listed(std::span<const float> s) { return {s.begin(), s.end()}; }

Result run(const Trial& trial, const Tuning* tuning) {
  Direct conv(trial.spec, {trial.x});
  conv.own_kernels = tuning != nullptr;
  conv.tuning = tuning;
  if (trial.rectified) conv.op = conv.op->absorb(*make_operator("relu")->pointwise());
  for (int i = 0; i < static_cast<int>(conv.in.size()); ++i) fill(conv.x(i), static_cast<std::uint64_t>(i + 1));
  fill(conv.dy(), 9);
  Result result;
  const Kernel forward = conv.op->forward(conv.setting(), conv.in);
  result.applied[Direction::forward] = forward.name.find(" by ") != std::string::npos;
  conv.in[1].layout = forward.reads[1].layout;  // chosen by the forward kernel, as in a plan
  conv.forward();
  for (const Kernel& kernel : conv.op->backward(conv.setting(), conv.in)) {
    const bool by = kernel.name.find(" by ") != std::string::npos;
    if (kernel.name.starts_with("weight gradient")) result.applied[Direction::weight_gradient] = by;
    if (kernel.name.starts_with("data gradient")) result.applied[Direction::data_gradient] = by;
  }
  conv.backward();
  EXPECT_TRUE(conv.intact()) << trial.spec;
  result.y = conv_listed(conv.y());
  result.dx = conv_listed(conv.dx(0));
  result.dw = conv_listed(conv.dx(1));
  if (conv.in.size() > 2) result.db = conv_listed(conv.dx(2));
  return result;
}

void expect_near(const std::vector<float>& got, const std::vector<float>& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  float largest = 0;
  for (const float v : expected) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected[i], tolerance * largest) << what << " at " << i;
}

double product(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

// Everything is computed by `method` where it applies; the batch is cut into these pieces, or whole.
Tuning everywhere(std::string_view method, std::vector<std::int64_t> pieces) {
  Tuning tuning;
  for (const Direction direction : {Direction::forward, Direction::data_gradient, Direction::weight_gradient}) {
    Choice choice;
    for (const std::int64_t n : pieces) choice.pieces.push_back({std::string(method), n});
    tuning.set("node", direction, choice);
  }
  return tuning;
}

class ConvMethodsConform : public testing::TestWithParam<const ConvMethod*> {};

TEST_P(ConvMethodsConform, ToThePrimitives) {
  const ConvMethod& method = *GetParam();
  const double tolerance = method.exact ? 2e-6 : 4e-5;
  int applied = 0;
  for (const Trial& trial : trials()) {
    const Result expected = run(trial, nullptr);
    std::vector<std::vector<std::int64_t>> cuts{{trial.x[0]}};
    if (trial.x[0] > 1) cuts.push_back({1, trial.x[0] - 1});
    for (const auto& cut : cuts) {
      const Tuning tuning = everywhere(method.name, cut);
      const Result got = run(trial, &tuning);
      const std::string what = fmt::format("{} of {}, {} pieces", method.name, trial.spec, cut.size());
      for (const auto& [direction, by] : got.applied) applied += by;
      expect_near(got.y, expected.y, tolerance, what + ": y");
      expect_near(got.dx, expected.dx, tolerance, what + ": dx");
      expect_near(got.dw, expected.dw, tolerance, what + ": dw");
      expect_near(got.db, expected.db, tolerance, what + ": db");
    }
  }
  const bool wide = instructions() == Instructions::v4;  // some methods are for wide vectors only
  EXPECT_TRUE(applied > 1 || !wide) << method.name << " applies nowhere";
}

TEST_P(ConvMethodsConform, GradientsAreThoseOfABilinearFunction) {
  for (const Trial& trial : trials()) {
    if (trial.rectified || trial.spec.find("bias=false") == std::string::npos) continue;
    const Tuning tuning = everywhere(GetParam()->name, {trial.x[0]});
    const Result got = run(trial, &tuning);
    std::vector<float> x(got.dx.size()), w(got.dw.size()), z(got.y.size());
    fill(x, 1), fill(w, 2), fill(z, 9);
    const double scale = std::sqrt(product(got.y, got.y) * product(z, z));
    EXPECT_NEAR(product(got.y, z), product(x, got.dx), 1e-5 * scale) << trial.spec;
    EXPECT_NEAR(product(got.y, z), product(w, got.dw), 1e-5 * scale) << trial.spec;
  }
}

std::string name_of(const testing::TestParamInfo<const ConvMethod*>& info) { return std::string(info.param->name); }

INSTANTIATE_TEST_SUITE_P(All, ConvMethodsConform, testing::ValuesIn(conv_methods().begin(), conv_methods().end()),
                         name_of);

// Pieces of one layer by different methods, whose weights and gradients have different layouts.
TEST(ConvPieces, MayMixMethods) {
  const Trial trial{"conv(filters=32, kernel=3, padding=same)", {4, 9, 8, 16}, true};
  Tuning tuning;
  for (const Direction direction : {Direction::forward, Direction::data_gradient, Direction::weight_gradient})
    tuning.set("node", direction, {{{"direct", 1}, {"im2col", 2}, {"winograd", 1}}});
  const Result expected = run(trial, nullptr), got = run(trial, &tuning);
  for (const auto& [direction, by] : got.applied) EXPECT_TRUE(by) << direction_name(direction);
  expect_near(got.y, expected.y, 4e-5, "y");
  expect_near(got.dx, expected.dx, 4e-5, "dx");
  expect_near(got.dw, expected.dw, 4e-5, "dw");
  expect_near(got.db, expected.db, 4e-5, "db");
}

// A choice that does not fit this batch, or names an unknown method, is ignored.
TEST(ConvPieces, WhatDoesNotFitIsNotUsed) {
  const Trial trial{"conv(filters=4, kernel=3)", {3, 6, 6, 2}};
  for (const Choice& choice : std::vector<Choice>{{{{"direct", 2}}},
                                                  {{{"direct", 4}}},
                                                  {{{"direct", 4}, {"direct", -1}}},
                                                  {{{"nothing", 3}}},
                                                  {{{"direct", 1}, {"nothing", 2}}},
                                                  {}}) {
    Tuning tuning;
    tuning.set("node", Direction::forward, choice);
    EXPECT_FALSE(run(trial, &tuning).applied.at(Direction::forward)) << choice_text(choice);
  }
}

TEST(ConvPieces, AreToldInFewWords) {
  EXPECT_EQ(choice_text({{{"im2col", 8}}}), "im2col");
  EXPECT_EQ(choice_text({{{"winograd", 4}, {"winograd", 4}}}), "winograd 4+4");
  EXPECT_EQ(choice_text({{{"winograd", 4}, {"winograd", 4}, {"im2col", 1}}}), "winograd 4+4 + im2col 1");
}

// Pieces share one workspace, whose size is that of the largest piece.
TEST(ConvPieces, NeedLessWorkspace) {
  Direct conv("conv(filters=4, kernel=3, bias=false)", {{4, 10, 10, 8}});
  const Tuning whole = everywhere("im2col", {4}), cut = everywhere("im2col", {1, 1, 1, 1});
  conv.tuning = &whole;
  const Kernel together = conv.op->forward(conv.setting(), conv.in);
  conv.tuning = &cut;
  const Kernel apart = conv.op->forward(conv.setting(), conv.in);
  EXPECT_GE(workspace_bytes({&together, 1}), 4u * 8 * 8 * 9 * 8 * 4);
  EXPECT_LE(workspace_bytes({&apart, 1}), workspace_bytes({&together, 1}) / 3);
}

}  // namespace
}  // namespace isobar::ops
