#include <algorithm>
#include <cmath>

#include "tests/datasets/samples.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

TEST(Noise, HasTheShapeAndRangeAskedFor) {
  const auto noise = make_dataset("noise(shape=[4, 4, 4, 3], targets=5, count=7, seed=3)");
  EXPECT_EQ(noise->size(), 7);
  EXPECT_EQ(noise->fields()[0].shape, (Shape{4, 4, 4, 3}));
  EXPECT_EQ(noise->fields()[1].shape, (Shape{5}));
  std::vector<float> targets;
  for (std::int64_t i = 0; i < 7; ++i) {
    const auto sample = read_sample(*noise, i);
    EXPECT_GE(std::ranges::min(sample[0]), 0.0f);
    EXPECT_LE(std::ranges::max(sample[0]), 1.0f);
    EXPECT_GT(std::ranges::max(sample[0]) - std::ranges::min(sample[0]), 0.9f);
    targets.insert(targets.end(), sample[1].begin(), sample[1].end());
  }
  EXPECT_GE(std::ranges::min(targets), -1.0f);
  EXPECT_LT(std::ranges::min(targets), -0.5f);
  EXPECT_LE(std::ranges::max(targets), 1.0f);
  EXPECT_GT(std::ranges::max(targets), 0.5f);
}

TEST(Noise, MakesTokensAndClassesOfAnyShape) {
  const auto noise = make_dataset("noise(shape=[50], tokens=7, targets=[6, 5], classes=3)");
  EXPECT_EQ(noise->fields()[1].shape, (Shape{6, 5}));
  const auto sample = read_sample(*noise, 2);
  const std::pair<std::size_t, float> fields[] = {{0, 7}, {1, 3}};
  for (const auto& [field, count] : fields) {
    for (const float v : sample[field]) EXPECT_TRUE(v >= 0 && v < count && v == std::floor(v)) << v;
    EXPECT_EQ(std::ranges::max(sample[field]), count - 1);
  }
}

TEST(Noise, DependsOnTheSeed) {
  EXPECT_NE(read_sample(*make_dataset("noise(seed=1)"), 0), read_sample(*make_dataset("noise(seed=2)"), 0));
}

TEST(Noise, RefusesWhatCannotBe) {
  EXPECT_HAS(error_of([] { make_dataset("noise(shape=[4, 0])"); }), "extents above 0");
  EXPECT_HAS(error_of([] { make_dataset("noise(shape=[])"); }), "extents above 0");
  EXPECT_HAS(error_of([] { make_dataset("noise(count=0)"); }), "count > 0");
  EXPECT_HAS(error_of([] { make_dataset("noise(targets=0)"); }), "targets > 0");
}

}  // namespace
}  // namespace isobar::datasets
