// Every transform of the catalogue: nothing random in a test, the same result for the same draw, in place if the shape
// does not change; and the arithmetic of the simple ones, by hand.
#include "isobar/datasets/statistics.hpp"

#include "tests/transforms/applied.hpp"

namespace isobar::transforms {
namespace {

const Shape transform_image{4, 5, 3};

// A small instance of each member; files that a member reads are made here.
Spec instance(std::string_view name, const TemporaryFolder& folder) {
  if (name == "class_map") return "class_map(map=[1, 0], otherwise=2)";
  if (name == "crop") return "crop(size=[2, 3])";
  if (name == "normalize") {
    datasets::write_statistics(folder / "stats.h5",
                               std::vector<datasets::ChannelStatistics>(3, {2, 0, 1.0, 2.0, 0.0, 9.0}));
    return Spec("normalize", {{"stats", (folder / "stats.h5").string()}});
  }
  if (name == "one_hot") return "one_hot(classes=60)";
  if (name == "resize") return "resize(size=[2, 7])";
  if (name == "rotate") return "rotate(by=180)";
  if (name == "scale") return "scale(by=0.5)";
  if (name == "select_channels") return "select_channels(channels=[2, 0])";
  if (name == "standardize") return "standardize(mean=[1, 2, 3], std=[1, 2, 4])";
  if (name == "subtract_mean") return "subtract_mean(values=[1, 10, 100])";
  return Spec(std::string(name), {});
}

TEST(Transforms, ConformToTheContract) {
  const TemporaryFolder folder;
  for (const Row<Transform>* row : transforms()) {
    SCOPED_TRACE(std::string(row->name));
    EXPECT_FALSE(row->summary.empty());
    const auto transform = made(instance(row->name, folder));
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

TEST(Transforms, Arithmetic) {
  const Shape shape{1, 2, 3};
  const Draw draw{true, Random(1)};
  EXPECT_EQ(applied("scale(by=0.5)", shape, draw), (std::vector<float>{0, 0.5f, 1, 1.5f, 2, 2.5f}));
  EXPECT_EQ(applied("standardize(mean=[1, 2, 3], std=[1, 2, 4])", shape, draw),
            (std::vector<float>{-1, -0.5f, -0.25f, 2, 1, 0.5f}));
  EXPECT_EQ(applied("standardize(mean=1, std=[1, 2, 4])", shape, draw)[5], 1.0f);
  EXPECT_EQ(applied("subtract_mean(values=[1, 10, 100])", shape, draw), (std::vector<float>{-1, -9, -98, 2, -6, -95}));
  EXPECT_EQ(applied("swap_channels", shape, draw), (std::vector<float>{2, 1, 0, 5, 4, 3}));
  EXPECT_HAS(error_of([&] { made("standardize(mean=[1, 2])")->infer(grid_of(shape)); }), "3 channels");
  EXPECT_HAS(error_of([&] { made("subtract_mean(values=[1, 2])")->infer(grid_of(shape)); }), "3 channels");
  EXPECT_HAS(error_of([] { made("standardize(std=0)"); }), "std above 0");
}

}  // namespace
}  // namespace isobar::transforms
