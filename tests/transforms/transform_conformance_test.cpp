// Every transform of the catalogue: nothing random in a test, the same result for the same draw, in place if the shape
// does not change; and the arithmetic of the simple ones, by hand.
#include "tests/transforms/applied.hpp"
#include "tests/transforms/transform_instances.hpp"

namespace isobar::transforms {
namespace {

const Shape transform_image{4, 5, 3};

TEST(Transforms, ConformToTheContract) {
  const TemporaryFolder folder;
  for (const Row<Transform>* row : transforms()) {
    SCOPED_TRACE(std::string(row->name));
    EXPECT_FALSE(row->summary.empty());
    const auto transform = made(transform_instance(row->name, folder));
    const std::vector<float> test = applied(*transform, transform_image, counting(transform_image), {false, Random(1)});
    for (std::uint64_t seed = 2; seed < 12; ++seed) {
      EXPECT_EQ(applied(*transform, transform_image, counting(transform_image), {false, Random(seed)}), test)
          << "random in a test";
      const Draw draw{true, Random(seed)};
      const std::vector<float> once = applied(*transform, transform_image, counting(transform_image), draw);
      EXPECT_EQ(applied(*transform, transform_image, counting(transform_image), draw), once);
      EXPECT_EQ(std::ranges::count(once, -7.0f), 0) << "not everything was written";
    }
  }
}

const Shape pixels{1, 2, 3};  // of 0 to 5
const Draw training{true, Random(1)};

TEST(KnownAnswer, scale) {
  EXPECT_EQ(applied("scale(by=0.5)", pixels, training), (std::vector<float>{0, 0.5f, 1, 1.5f, 2, 2.5f}));
}

TEST(KnownAnswer, standardize) {
  EXPECT_EQ(applied("standardize(mean=[1, 2, 3], std=[1, 2, 4])", pixels, training),
            (std::vector<float>{-1, -0.5f, -0.25f, 2, 1, 0.5f}));
  EXPECT_EQ(applied("standardize(mean=1, std=[1, 2, 4])", pixels, training)[5], 1.0f);
  EXPECT_HAS(error_of([&] { made("standardize(mean=[1, 2])")->infer(grid_of(pixels)); }), "3 channels");
  EXPECT_HAS(error_of([] { made("standardize(std=0)"); }), "std above 0");
}

TEST(KnownAnswer, subtract_mean) {
  EXPECT_EQ(applied("subtract_mean(values=[1, 10, 100])", pixels, training),
            (std::vector<float>{-1, -9, -98, 2, -6, -95}));
  EXPECT_HAS(error_of([&] { made("subtract_mean(values=[1, 2])")->infer(grid_of(pixels)); }), "3 channels");
}

TEST(KnownAnswer, swap_channels) {
  EXPECT_EQ(applied("swap_channels", pixels, training), (std::vector<float>{2, 1, 0, 5, 4, 3}));
}

}  // namespace
}  // namespace isobar::transforms
