#include "isobar/pictures/sample_images.hpp"

#include <gtest/gtest.h>

#include "isobar/pictures/colour_map.hpp"

namespace isobar::pictures {
namespace {

train::Values ramp(const Shape& shape) {
  train::Values values{shape, std::vector<float>(static_cast<std::size_t>(shape.count()))};
  for (std::size_t i = 0; i < values.numbers.size(); ++i) values.numbers[i] = static_cast<float>(i);
  return values;
}

train::View view_of(const Shape& x, const Shape& y, const Shape& prediction) {
  train::View view;
  view.fields["x"] = ramp(x);
  view.fields["y"] = ramp(y);
  view.prediction = ramp(prediction);
  return view;
}

std::vector<std::string> names(const std::vector<NamedImage>& images) {
  std::vector<std::string> all;
  for (const NamedImage& one : images) all.push_back(one.name);
  return all;
}

Colour pixel(const files::Image& image, std::int64_t y, std::int64_t x) {
  const auto at = static_cast<std::size_t>((y * image.width + x) * 3);
  return {image.pixels[at], image.pixels[at + 1], image.pixels[at + 2]};
}

const std::vector<std::string> all_three{"input", "target", "prediction"};

TEST(SampleImages, SegmentationIsTintedWhereAClassIs) {
  train::View view = view_of(Shape{2, 96, 2}, Shape{2, 96}, Shape{2, 96, 3});
  train::Values &y = view.fields["y"], &prediction = view.prediction;
  std::ranges::fill(y.numbers, 0.0f);
  std::ranges::fill(prediction.numbers, 0.0f);
  y.numbers[96 + 7] = 2;                     // row 1, column 7
  prediction.numbers[(96 + 8) * 3 + 2] = 5;  // row 1, column 8
  const std::vector<NamedImage> images = sample_images(view, {});
  ASSERT_EQ(names(images), all_three);
  EXPECT_EQ(images[0].image.width, 96);
  const auto grey = [](const Colour& colour) { return colour[0] == colour[1] && colour[1] == colour[2]; };
  for (std::size_t i : {1u, 2u}) {
    const files::Image& image = images[i].image;
    ASSERT_EQ(image.width, 96);
    for (std::int64_t row = 0; row < 2; ++row)
      for (std::int64_t column = 0; column < 96; ++column)
        EXPECT_EQ(grey(pixel(image, row, column)), row == 0 || column != (i == 1 ? 7 : 8)) << row << " " << column;
  }
}

TEST(SampleImages, FieldsShareTheColoursOfTheTarget) {
  train::View view = view_of(Shape{100, 100, 6}, Shape{100, 100, 2}, Shape{100, 100, 2});
  for (float& number : view.prediction.numbers) number += 1e9f;
  const std::vector<NamedImage> images = sample_images(view, {});
  ASSERT_EQ(names(images), all_three);
  EXPECT_EQ(images[2].image.width, 2 * 104 - 4);
  EXPECT_EQ(pixel(images[1].image, 0, 0), colour_at(0));
  EXPECT_EQ(pixel(images[2].image, 0, 0), colour_at(1));
}

TEST(SampleImages, LargeFieldsAreReducedAndFourChannelsShown) {
  const std::vector<NamedImage> images =
      sample_images(view_of(Shape{30, 1500, 2}, Shape{30, 1500, 6}, Shape{30, 1500, 6}), {});
  ASSERT_EQ(names(images), all_three);
  EXPECT_EQ(images[0].image.width, 500);
  EXPECT_EQ(images[1].image.width, 4 * 504 - 4);
  EXPECT_EQ(images[1].image.height, 10);
  EXPECT_EQ(sample_images(view_of(Shape{1, 1500, 1}, Shape{1, 1500, 2}, Shape{1, 1500, 2}), {}).at(2).image.height, 1);
}

TEST(SampleImages, VolumesAreSeenByTheirMiddleLayer) {
  train::View view = view_of(Shape{5, 96, 96, 1}, Shape{5, 96, 96}, Shape{5, 96, 96, 2});
  std::vector<float>& classes = view.fields["y"].numbers;
  std::ranges::fill(classes, 0.0f);
  classes[2 * 96 * 96 + 3 * 96 + 4] = 1;
  const std::vector<NamedImage> images = sample_images(view, {});
  ASSERT_EQ(names(images), all_three);
  EXPECT_NE(pixel(images[1].image, 3, 4)[0], pixel(images[1].image, 3, 4)[2]);
}

TEST(SampleImages, OnlyWhatIsAPictureIsDrawn) {
  EXPECT_EQ(names(sample_images(view_of(Shape{8, 8, 3}, Shape{1}, Shape{10}), {})), std::vector<std::string>{"input"});
  EXPECT_EQ(names(sample_images(view_of(Shape{8, 8, 8, 4}, Shape{4}, Shape{4}), {})),
            std::vector<std::string>{"input"});
  EXPECT_EQ(names(sample_images(view_of(Shape{8, 8, 3}, Shape{20, 5}, Shape{64, 9}), {})),
            std::vector<std::string>{"input"});
  EXPECT_TRUE(sample_images(view_of(Shape{64}, Shape{64}, Shape{64, 100}), {}).empty());
  EXPECT_TRUE(sample_images({}, {}).empty());
}

TEST(SampleImages, TableOfNumbersOrClasses) {
  const std::string head = "| | target | prediction |\n|---|---|---|\n";
  EXPECT_EQ(sample_table(view_of(Shape{8, 8, 8, 4}, Shape{2}, Shape{2}), {}), head + "| 0 | 0 | 0 |\n| 1 | 1 | 1 |\n");
  EXPECT_EQ(sample_table(view_of(Shape{8, 8, 3}, Shape{1}, Shape{3}), {"cat", "dog"}), head + "| 0 | cat | 2 |\n");
  EXPECT_EQ(sample_table(view_of(Shape{8, 8, 3}, Shape{17}, Shape{17}), {}), "");
  EXPECT_EQ(sample_table(view_of(Shape{8, 8, 3}, Shape{4}, Shape{6}), {}), "");
  EXPECT_EQ(sample_table({}, {}), "");
}

}  // namespace
}  // namespace isobar::pictures
