// Every transform of the catalogue: nothing random in a test, the same for the same draw, in place where the shape
// stays; and what each of them computes, by hand.
#include <algorithm>
#include <numeric>
#include <set>

#include "isobar/transforms/transform.hpp"

#include "tests/data/samples.hpp"

namespace isobar::transforms {
namespace {

using data::read_sample;
using tests::error_of;
using tests::TemporaryFolder;

const Shape image{4, 5, 3};

Spec instance(std::string_view name) {
  if (name == "crop") return "crop(size=[2, 3])";
  if (name == "scale") return "scale(by=0.5)";
  if (name == "standardize") return "standardize(mean=[1, 2, 3], std=[1, 2, 4])";
  if (name == "subtract_mean") return "subtract_mean(values=[1, 10, 100])";
  return Spec(std::string(name), {});
}

std::unique_ptr<Transform> made(const Spec& spec) { return make(transforms(), spec, "transform"); }

std::vector<float> counting(const Shape& shape) {
  std::vector<float> x(static_cast<std::size_t>(shape.count()));
  std::iota(x.begin(), x.end(), 0.0f);
  return x;
}

std::vector<float> applied(const Transform& transform, const Shape& shape, std::vector<float> x, const Draw& draw) {
  const Shape after = transform.infer(shape);
  if (after == shape) {
    transform.apply(shape, x, x, draw);
    return x;
  }
  std::vector<float> out(static_cast<std::size_t>(after.count()), -7.0f);
  transform.apply(shape, x, out, draw);
  return out;
}

std::vector<float> applied(const Spec& spec, const Shape& shape, const Draw& draw) {
  return applied(*made(spec), shape, counting(shape), draw);
}

TEST(Transforms, ConformToTheContract) {
  for (const Row<Transform>* row : transforms()) {
    SCOPED_TRACE(std::string(row->name));
    EXPECT_FALSE(row->summary.empty());
    const auto transform = made(instance(row->name));
    const std::vector<float> test = applied(*transform, image, counting(image), {false, Random(1)});
    for (std::uint64_t seed = 2; seed < 12; ++seed) {
      EXPECT_EQ(applied(*transform, image, counting(image), {false, Random(seed)}), test) << "random in a test";
      const Draw draw{true, Random(seed)};
      const std::vector<float> once = applied(*transform, image, counting(image), draw);
      EXPECT_EQ(applied(*transform, image, counting(image), draw), once);
      EXPECT_EQ(std::ranges::count(once, -7.0f), 0) << "not everything was written";
    }
  }
}

TEST(Crop, TheMiddleInATestAndEverywhereInTraining) {
  const Shape plane{4, 5, 1};
  EXPECT_EQ(applied("crop(size=[2, 3])", plane, {false, Random(1)}), (std::vector<float>{6, 7, 8, 11, 12, 13}));
  EXPECT_EQ(applied("crop(size=3)", plane, {false, Random(1)}), (std::vector<float>{1, 2, 3, 6, 7, 8, 11, 12, 13}));
  std::set<float> corners;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto cut = applied("crop(size=[2, 3])", plane, {true, Random(seed)});
    corners.insert(cut[0]);
    EXPECT_EQ(cut[5], cut[0] + 7);  // one row and two columns further
  }
  EXPECT_EQ(corners, (std::set<float>{0, 1, 2, 5, 6, 7, 10, 11, 12}));
  EXPECT_EQ(applied("crop(size=[4, 5])", image, {true, Random(3)}), counting(image));
  EXPECT_HAS(error_of([&] { made("crop(size=6)")->infer(image); }), "too small");
  EXPECT_HAS(error_of([] { made("crop"); }), "size");
}

TEST(Mirror, HalfOfTheTrainingImages) {
  const Shape shape{2, 3, 2};
  const std::vector<float> mirrored{4, 5, 2, 3, 0, 1, 10, 11, 8, 9, 6, 7};
  int count = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto out = applied("mirror", shape, {true, Random(seed)});
    EXPECT_TRUE(out == mirrored || out == counting(shape));
    count += out == mirrored;
  }
  EXPECT_NEAR(count, 200, 50);
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
  EXPECT_HAS(error_of([&] { made("standardize(mean=[1, 2])")->infer(shape); }), "3 channels");
  EXPECT_HAS(error_of([&] { made("subtract_mean(values=[1, 2])")->infer(shape); }), "3 channels");
  EXPECT_HAS(error_of([] { made("standardize(std=0)"); }), "std above 0");
}

}  // namespace
}  // namespace isobar::transforms
