// Transforms that move numbers: crop, mirror, rotate and resize, on images and volumes.
#include <set>

#include "tests/transforms/applied.hpp"

namespace isobar::transforms {
namespace {

const Shape image{4, 5, 3};

TEST(KnownAnswer, crop_takes_the_middle_in_a_test_and_everywhere_in_training) {
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
  EXPECT_HAS(error_of([&] { made("crop(size=6)")->infer(grid_of(image)); }), "too small");
  EXPECT_HAS(error_of([] { made("crop"); }), "size");
}

TEST(KnownAnswer, mirror_half_of_the_training_images) {
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

TEST(KnownAnswer, crop_of_volumes_and_always_the_middle) {
  const Shape volume{4, 3, 2, 1};
  // Layers 1 and 2, rows 1 and 2 (of three, floor(1 / 2) = 0 spare before), column 0.
  EXPECT_EQ(applied("crop(size=[2, 2, 1])", volume, {false, Random(1)}), (std::vector<float>{6, 8, 12, 14}));
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(applied("crop(size=[2, 2, 1], random=false)", volume, {true, Random(seed)})[0], 6.0f);
  EXPECT_EQ(made("crop(size=2)")->infer(grid_of(volume)).shape, (Shape{2, 2, 2, 1}));
  EXPECT_HAS(error_of([&] { made("crop(size=[2, 2])")->infer(grid_of(volume)); }), "'x' is 4x3x2x1");
  EXPECT_HAS(error_of([&] { made("crop(size=[2, 2, 2])")->infer(grid_of(image)); }), "depth, rows, columns");
  EXPECT_HAS(error_of([] { made("crop(size=[1, 2, 3, 4])"); }), "one number");
}

TEST(KnownAnswer, mirror_along_other_axes) {
  const Shape shape{2, 2, 1};
  std::set<std::vector<float>> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    seen.insert(applied("mirror(axes=[0, 1])", shape, {true, Random(seed)}));
  EXPECT_EQ(seen, (std::set<std::vector<float>>{{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}}));
  seen.clear();
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    seen.insert(applied("mirror(axes=0)", {3, 1, 1, 2}, {true, Random(seed)}));
  EXPECT_EQ(seen, (std::set<std::vector<float>>{{0, 1, 2, 3, 4, 5}, {4, 5, 2, 3, 0, 1}}));
  EXPECT_HAS(error_of([&] { made("mirror(axes=2)")->infer(grid_of(shape)); }), "no axis 2");
}

std::set<std::vector<float>> all_of(const Spec& spec, const Shape& shape, int draws) {
  std::set<std::vector<float>> seen;
  for (int seed = 0; seed < draws; ++seed)
    seen.insert(applied(spec, shape, {true, Random(static_cast<std::uint64_t>(seed))}));
  return seen;
}

TEST(KnownAnswer, rotate_gives_the_symmetries_of_the_square) {
  const Shape square{2, 2, 1};
  const std::set<std::vector<float>> turns{{0, 1, 2, 3}, {1, 3, 0, 2}, {3, 2, 1, 0}, {2, 0, 3, 1}};
  EXPECT_EQ(all_of("rotate", square, 200), turns);
  std::set<std::vector<float>> both = turns;
  both.merge(std::set<std::vector<float>>{{1, 0, 3, 2}, {2, 3, 0, 1}, {0, 2, 1, 3}, {3, 1, 2, 0}});
  EXPECT_EQ(all_of("rotate(reflections=true)", square, 300), both);
  EXPECT_EQ(all_of("rotate(by=180)", {1, 2, 2}, 50), (std::set<std::vector<float>>{{0, 1, 2, 3}, {2, 3, 0, 1}}));
  EXPECT_HAS(error_of([] { made("rotate")->infer(grid_of({4, 5, 1})); }), "equal extents");
  EXPECT_HAS(error_of([] { made("rotate(by=45)"); }), "90 or 180");
}

// How the corners 0, 1, 2 and 4 of a 2x2x2 cube moved tells a rotation from a reflection.
bool is_reflection(const std::vector<float>& cube) {
  const auto place = [&](float corner) {
    const auto at = static_cast<int>(std::ranges::find(cube, corner) - cube.begin());
    return std::array<int, 3>{at / 4, at / 2 % 2, at % 2};
  };
  const auto origin = place(0), a = place(4), b = place(2), c = place(1);
  int m[3][3];
  for (std::size_t i = 0; i < 3; ++i) {
    m[i][0] = a[i] - origin[i];
    m[i][1] = b[i] - origin[i];
    m[i][2] = c[i] - origin[i];
  }
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
             m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]) <
         0;
}

TEST(KnownAnswer, rotate_gives_the_symmetries_of_the_cube) {
  const Shape cube{2, 2, 2, 1};
  const auto turns = all_of("rotate", cube, 1500), all = all_of("rotate(reflections=true)", cube, 3000);
  EXPECT_EQ(turns.size(), 24u);
  EXPECT_EQ(all.size(), 48u);
  EXPECT_TRUE(std::ranges::none_of(turns, is_reflection));
  EXPECT_EQ(std::ranges::count_if(all, is_reflection), 24);
  EXPECT_EQ(all_of("rotate(by=180)", {2, 1, 3, 1}, 200).size(), 4u);
  EXPECT_HAS(error_of([] { made("rotate")->infer(grid_of({4, 4, 5, 1})); }), "equal extents");
}

// Larger than a tile, with and without channels: the result has the structure of a symmetry everywhere.
TEST(Rotate, EveryNumberArrives) {
  for (const std::int64_t channels : {1, 3}) {
    const Shape cube{19, 19, 19, channels};
    const auto at = [&](const std::vector<float>& x, std::int64_t i, std::int64_t j, std::int64_t k) {
      return x[static_cast<std::size_t>((((i * 19) + j) * 19 + k) * channels)];
    };
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const auto out = applied("rotate(reflections=true)", cube, {true, Random(seed)});
      // The map is affine: three steps from the corner give every place.
      const float o = at(out, 0, 0, 0), a = at(out, 1, 0, 0) - o, b = at(out, 0, 1, 0) - o, c = at(out, 0, 0, 1) - o;
      for (std::int64_t i = 0; i < 19; ++i)
        for (std::int64_t j = 0; j < 19; ++j)
          for (std::int64_t k = 0; k < 19; ++k)
            ASSERT_EQ(at(out, i, j, k),
                      o + static_cast<float>(i) * a + static_cast<float>(j) * b + static_cast<float>(k) * c);
      for (std::size_t i = 0; i < out.size(); i += static_cast<std::size_t>(channels))
        for (std::size_t k = 1; k < static_cast<std::size_t>(channels); ++k)
          ASSERT_EQ(out[i + k], out[i] + static_cast<float>(k));
    }
  }
}

TEST(KnownAnswer, resize) {
  const Draw draw{false, Random(1)};
  // Along columns 0 1 2 3 -> 0.75 and 2.25 by a triangle of width 4: weights 3/8 3/8 1/8 and so on, at the edge cut.
  const auto half = applied("resize(size=[1, 2])", {1, 4, 1}, draw);
  EXPECT_NEAR(half[0], (0 * 0.75 + 1 * 0.75 + 2 * 0.25) / 1.75, 1e-6);
  EXPECT_NEAR(half[1], 3 - half[0], 1e-6);
  const auto twice = applied("resize(size=[1, 4])", {1, 2, 1}, draw);  // 0 1 -> 0 1/4 3/4 1
  EXPECT_EQ(twice, (std::vector<float>{0, 0.25f, 0.75f, 1}));
  EXPECT_EQ(applied("resize(size=[2, 2], method=nearest)", {4, 4, 1}, draw), (std::vector<float>{5, 7, 13, 15}));
  EXPECT_EQ(applied("resize(size=[1, 5], method=nearest)", {1, 2, 2}, draw),
            (std::vector<float>{0, 1, 0, 1, 2, 3, 2, 3, 2, 3}));
  EXPECT_EQ(applied("resize(size=[4, 5])", image, draw), counting(image));
  Grid labels = grid_of({1, 2, 1});
  labels.exact = true;
  EXPECT_EQ(applied(*made("resize(size=[1, 4])"), labels, {3, 8}, draw), (std::vector<float>{3, 3, 8, 8}));
  // A plane in a volume stays one.
  const auto volume = applied("resize(size=[3, 5, 7])", {2, 4, 4, 1}, draw);
  ASSERT_EQ(volume.size(), 3u * 5 * 7);
  EXPECT_NEAR(volume[0], 0, 2.3);
  for (std::size_t i = 0; i < 35; ++i) EXPECT_NEAR(volume[35 + i], (volume[i] + volume[70 + i]) / 2, 1e-5);
  EXPECT_HAS(error_of([] { made("resize(size=[1, 2, 3])")->infer(grid_of({4, 4, 1})); }), "2 are needed");
  EXPECT_HAS(error_of([] { made("resize(size=0)"); }), "1 to 65536");
}

}  // namespace
}  // namespace isobar::transforms
