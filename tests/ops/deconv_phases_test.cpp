// The phases against oneDNN's own transposed convolution, forward in deconv and backward in a strided conv.
#include "isobar/ops/deconv_phases.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "isobar/base/instructions.hpp"

#include "tests/ops/direct.hpp"

namespace isobar::ops {
namespace {

void deconv_phases_fill(std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(3 * i + 1));
}

void expect_near(std::span<const float> got, std::span<const float> expected, const std::string& spec) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 2e-4) << spec << " at " << i;
}

bool is_ours(const Kernel& kernel) { return !kernel.library; }

TEST(DeconvPhases, ForwardIsTheSame) {
  const std::vector<std::pair<std::string, Shape>> cases{
      {"deconv(filters=32, kernel=3, stride=2, padding=same, bias=false)", {2, 5, 4, 16}},
      {"deconv(filters=16, kernel=5, stride=3, padding=1, output_padding=2, bias=false)", {1, 4, 3, 16}},
      {"deconv(filters=16, kernel=3, padding=same, bias=false)", {1, 4, 5, 3, 16}},
      {"deconv(filters=5, kernel=4, stride=2, bias=false)", {1, 7, 3}}};
  for (const auto& [spec, x] : cases) {
    Direct own(spec, {x}), library(spec, {x});
    library.own_kernels = false;
    for (Direct* deconv : {&own, &library}) {
      deconv_phases_fill(deconv->x(0));
      deconv_phases_fill(deconv->x(1));
      deconv->forward();
    }
    expect_near(own.y(), library.y(), spec);
    EXPECT_TRUE(own.intact());
    // Without wide vectors, oneDNN has no faster forward convolution.
    EXPECT_TRUE(is_ours(own.op->forward(own.setting(), own.in)) || instructions() == Instructions::v3) << spec;
    EXPECT_FALSE(is_ours(library.op->forward(library.setting(), library.in))) << spec;
  }
}

TEST(DeconvPhases, DataGradientOfAStridedConvolutionIsTheSame) {
  const std::string spec = "conv(filters=32, kernel=3, stride=2, padding=same)";
  Direct own(spec, {{2, 7, 8, 16}}), library(spec, {{2, 7, 8, 16}});
  library.own_kernels = false;
  for (Direct* conv : {&own, &library}) {
    for (int i = 0; i < 3; ++i) deconv_phases_fill(conv->x(i));
    deconv_phases_fill(conv->dy());
    // The layout is chosen by the forward kernel, as in a plan.
    conv->in[1].layout = conv->op->forward(conv->setting(), conv->in).reads[1].layout;
    conv->backward();
  }
  expect_near(own.dx(0), library.dx(0), spec);
  EXPECT_EQ(is_ours(own.op->backward(own.setting(), own.in).back()), instructions() == Instructions::v4);
}

// A kernel smaller than the stride leaves outputs that no input reaches: oneDNN computes it.
TEST(DeconvPhases, EmptyPhasesAreLeftToTheLibrary) {
  const Direct deconv("deconv(filters=16, kernel=2, stride=3, bias=false)", {{1, 4, 4, 16}});
  EXPECT_FALSE(is_ours(deconv.op->forward(deconv.setting(), deconv.in)));
}

}  // namespace
}  // namespace isobar::ops
