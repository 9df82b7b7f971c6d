// Transforms that change numbers in place: classes, channels, logarithms, other types, statistics.
#include <cmath>

#include "isobar/datasets/statistics.hpp"

#include "tests/transforms/applied.hpp"

namespace isobar::transforms {
namespace {

const Draw test{false, Random(1)};

std::vector<float> values(const Spec& spec, std::vector<float> x) {
  const Shape shape{static_cast<std::int64_t>(x.size())};
  return applied(*made(spec), shape, std::move(x), test);
}

TEST(KnownAnswer, log1p) {
  const auto out = values("log1p", {0, 1, 5000, 0.5f, -0.5f, 4095, 4096});
  for (std::size_t i = 0; const double x : {0.0, 1.0, 5000.0, 0.5, -0.5, 4095.0, 4096.0})
    EXPECT_EQ(out[i++], std::log1p(static_cast<float>(x))) << x;
  EXPECT_EQ(values("log1p", {-1})[0], -INFINITY);
  EXPECT_HAS(error_of([] { values("log1p", {0, -1.5f}); }), "holds -1.5");
}

TEST(KnownAnswer, divide_by_mean) {
  std::vector<float> x(35, 2.0f);
  x[34] = 2.0f + 70.0f;  // the mean is 4
  const auto out = values("divide_by_mean", x);
  EXPECT_EQ(out[0], 0.5f);
  EXPECT_EQ(out[34], 18.0f);
  EXPECT_HAS(error_of([] { values("divide_by_mean", {-1, 1}); }), "mean of 'x' is 0");
}

TEST(KnownAnswer, one_hot_of_labels_and_maps) {
  EXPECT_EQ(values("one_hot(classes=4)", {2}), (std::vector<float>{0, 0, 1, 0}));
  const auto transform = made("one_hot(classes=2)");
  EXPECT_EQ(transform->field(), "y");
  EXPECT_EQ(transform->infer(grid_of({2, 3})).shape, (Shape{2, 3, 2}));
  EXPECT_EQ(transform->infer(grid_of({2, 3, 1})).shape, (Shape{2, 3, 2}));
  EXPECT_EQ(transform->infer(grid_of({1})).shape, (Shape{2}));
  EXPECT_EQ(applied(*transform, Shape{1, 3}, {0, 1, 1}, test), (std::vector<float>{1, 0, 0, 1, 0, 1}));
  for (const float wrong : {-1.0f, 2.0f, 0.5f, NAN})
    EXPECT_HAS(error_of([&] { values("one_hot(classes=2)", {wrong}); }), "0 to 1");
  EXPECT_HAS(error_of([] { made("one_hot"); }), "classes");
}

TEST(KnownAnswer, class_map_from_old_classes_to_new) {
  EXPECT_EQ(values("class_map(map=[0, 2, 2, 1])", {0, 1, 2, 3, 2}), (std::vector<float>{0, 2, 2, 1, 2}));
  EXPECT_EQ(values("class_map(map=[0, 1], from=[8, 3])", {3, 8}), (std::vector<float>{1, 0}));
  EXPECT_EQ(values("class_map(map=[0, 1], from=[8, 3], otherwise=5)", {4, 3, 100}), (std::vector<float>{5, 1, 5}));
  EXPECT_HAS(error_of([] { values("class_map(map=[0, 1], from=[8, 3])", {3, 4}); }), "holds 4");
  EXPECT_HAS(error_of([] { values("class_map(map=[0, 1])", {0.5f}); }), "holds 0.5");
  EXPECT_HAS(error_of([] { made("class_map(map=[0, 1], from=[8])"); }), "one for each");
  EXPECT_HAS(error_of([] { made("class_map"); }), "map");
  Grid grid = grid_of({1});
  grid.classes = {"cat", "dog", "ship"};
  EXPECT_EQ(made("class_map(map=[0, 0, 1])")->infer(grid).classes, (std::vector<std::string>{"cat+dog", "ship"}));
}

TEST(KnownAnswer, select_channels_by_number_and_by_name) {
  Grid grid = grid_of({1, 2, 3});
  EXPECT_EQ(applied("select_channels(channels=[2, 0])", grid.shape, test), (std::vector<float>{2, 0, 5, 3}));
  EXPECT_EQ(applied("select_channels(channels=1)", grid.shape, test), (std::vector<float>{1, 4}));
  EXPECT_HAS(error_of([&] { made("select_channels(channels=3)")->infer(grid); }), "valid: 0 to 2");
  EXPECT_HAS(error_of([&] { made("select_channels(channels=PSL)")->infer(grid); }), "names none");
  grid.channels = {"TMQ", "U850", "PSL"};
  const auto transform = made("select_channels(channels=[PSL, TMQ])");
  EXPECT_EQ(transform->infer(grid).channels, (std::vector<std::string>{"PSL", "TMQ"}));
  EXPECT_EQ(applied(*transform, grid, counting(grid.shape), test), (std::vector<float>{2, 0, 5, 3}));
  EXPECT_HAS(error_of([&] { made("select_channels(channels=PSM)")->infer(grid); }), "did you mean 'PSL'?");
  EXPECT_EQ(made("swap_channels")->infer(grid).channels, (std::vector<std::string>{"PSL", "U850", "TMQ"}));
}

TEST(KnownAnswer, cast_rounds_to_what_a_type_holds) {
  const Spec half = "cast(to=float16)", brain = "cast(to=bfloat16)";
  // Steps of float16: 2^-10 in [1, 2), 32 below 65536, 2^-24 below 2^-14; ties go to the even one.
  EXPECT_EQ(values(half, {1, 1 + 0x1p-11f, 1 + 0x1.8p-10f, 65519, -0.0f, 0x1.8p-24f, 0x1p-25f, -0x1.4p-24f}),
            (std::vector<float>{1, 1, 1 + 0x1p-9f, 65504, -0.0f, 0x1p-23f, 0, -0x1p-24f}));
  EXPECT_EQ(values(half, {1 + 0x1.8p-11f, 0x1.ff8p-15f, 0x1.fffffep-15f}),
            (std::vector<float>{1 + 0x1p-10f, 0x1.ff8p-15f, 0x1p-14f}));
  EXPECT_EQ(values(brain, {1 + 0x1p-8f, 1 + 0x1.8p-7f, 3e38f}), (std::vector<float>{1, 1 + 0x1p-6f, 0x1.c4p127f}));
  EXPECT_TRUE(std::isnan(values(half, {std::bit_cast<float>(0x7fffffffu)})[0]));
  EXPECT_EQ(values("cast(to=int16)", {0.5f, 1.5f, -2.5f, 32767}), (std::vector<float>{0, 2, -2, 32767}));
  EXPECT_EQ(values("cast(to=uint8, overflow=saturate)", {-3, 300, 255.4f, INFINITY}),
            (std::vector<float>{0, 255, 255, 255}));
  EXPECT_HAS(error_of([] { values("cast(to=uint8)", {7, 255.6f}); }), "255.6");
  EXPECT_HAS(error_of([&] { values(half, {65520}); }), "65520");
  EXPECT_HAS(error_of([] { values("cast(to=int8, overflow=saturate)", {NAN}); }), "NaN");
  EXPECT_HAS(error_of([] { made("cast(to=int4)"); }), "int16");
}

TEST(KnownAnswer, normalize_by_a_statistics_file) {
  const TemporaryFolder folder;
  const std::string file = (folder / "stats.h5").string();
  // Mean 2 and deviation 1 in [0, 4]; mean -1 and deviation 3 in [-6, 2]; a constant.
  datasets::write_statistics(file, {{4, 0, 2, 4, 0, 4}, {4, 0, -1, 36, -6, 2}, {4, 0, 5, 0, 5, 5}});
  const auto with = [&](const std::string& more) { return made("normalize(stats='" + file + "'" + more + ")"); };
  const std::vector<float> x{0, -6, 5, 3, 2, 5};
  EXPECT_EQ(applied(*with(""), Shape{2, 3}, x, test), (std::vector<float>{0, 0, 0, 0.75f, 1, 0}));
  EXPECT_EQ(applied(*with(", kind=symmetric"), Shape{2, 3}, x, test), (std::vector<float>{-1, -1, 0, 0.5f, 1, 0}));
  const auto standard = applied(*with(", kind=standard"), Shape{2, 3}, x, test);
  for (std::size_t i = 0; const double v : {-2.0, -5.0 / 3, 0.0, 1.0, 1.0, 0.0}) EXPECT_NEAR(standard[i++], v, 1e-6);
  EXPECT_EQ(applied(*with(", channels=[1, 0]"), Shape{1, 2}, {2, 1}, test), (std::vector<float>{1, 0.25f}));
  EXPECT_HAS(error_of([&] { with("")->infer(grid_of({2, 2})); }), "gives numbers for 3");
  EXPECT_HAS(error_of([&] { with(", channels=3"); }), "no channel 3");
  EXPECT_HAS(error_of([&] { with(", kind=maxmin"); }), "minmax");
}

}  // namespace
}  // namespace isobar::transforms
