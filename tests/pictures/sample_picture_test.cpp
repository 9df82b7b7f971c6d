// Pixels of samples: kinds of fields, reduction, north up, and the matching classes.
#include "isobar/pictures/sample_picture.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "isobar/pictures/base64.hpp"
#include "isobar/pictures/svg_sheet.hpp"

namespace isobar::pictures {
namespace {

Colour picture_pixel(const files::Image& image, std::int64_t row, std::int64_t column) {
  const std::uint8_t* p = &image.pixels[static_cast<std::size_t>(3 * (row * image.width + column))];
  return {p[0], p[1], p[2]};
}

TEST(SamplePicture, PicturesAreGreyOrColouredOthersMapped) {
  std::vector<float> grey{0, 51, 255, 102};
  const SamplePicture one(Shape{2, 2, 1}, {}, 100);
  EXPECT_EQ(picture_pixel(one.colours(grey), 0, 1), (Colour{51, 51, 51}));
  EXPECT_EQ(one.shown(), "");

  std::vector<float> rgb(12);
  rgb[3] = 255;
  EXPECT_EQ(picture_pixel(SamplePicture(Shape{2, 2, 3}, {}, 100).colours(rgb), 0, 1), (Colour{255, 0, 0}));

  const SamplePicture named(Shape{2, 2, 1}, {"PSL"}, 100);
  EXPECT_EQ(picture_pixel(named.colours(grey), 1, 0), colour_at(1));
  EXPECT_EQ(named.shown(), "PSL");
}

TEST(SamplePicture, ClimateStatesAreTurnedAndShowWater) {
  // Rows from south to north; TMQ is the second channel.
  std::vector<float> numbers(2 * 3 * 2);
  for (std::size_t column = 0; column < 3; ++column) numbers[2 * (3 + column) + 1] = 40;
  const SamplePicture picture(Shape{2, 3, 2}, {"U850", "TMQ"}, 100);
  EXPECT_EQ(picture.shown(), "TMQ");
  EXPECT_EQ(picture_pixel(picture.colours(numbers), 0, 1), colour_at(1));
  EXPECT_EQ(picture_pixel(picture.colours(numbers), 1, 1), colour_at(0));
  const std::vector<std::uint16_t> places{0, 0, 0, 1, 2, 0};
  EXPECT_EQ(picture.classes(places), (std::vector<std::uint16_t>{1, 2, 0, 0, 0, 0}));
}

TEST(SamplePicture, LargeFieldsAreReducedByMeans) {
  std::vector<float> numbers(6 * 8);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i % 8 < 4 ? 0.0f : static_cast<float>(i % 2);
  const SamplePicture picture(Shape{6, 8, 1}, {"field"}, 4);
  EXPECT_EQ(picture.width(), 4);
  EXPECT_EQ(picture.height(), 3);
  EXPECT_EQ(picture_pixel(picture.colours(numbers), 1, 3), colour_at(0.5f));
  std::vector<std::uint16_t> places(48);
  places[1 * 8 + 1] = 5;
  EXPECT_EQ(picture.classes(places)[0], 5);
}

TEST(SamplePicture, VolumesByTheirMiddleLayer) {
  std::vector<float> numbers(4 * 2 * 2 * 1);
  numbers[2 * 4] = 1;
  const SamplePicture picture(Shape{4, 2, 2, 1}, {}, 100);
  EXPECT_EQ(picture_pixel(picture.colours(numbers), 0, 0), colour_at(1));
  EXPECT_EQ(picture.shown(), "middle layer");
  std::vector<std::uint16_t> places(16);
  std::iota(places.begin(), places.end(), std::uint16_t{0});
  EXPECT_EQ(picture.classes(places), (std::vector<std::uint16_t>{8, 9, 10, 11}));
}

TEST(SamplePicture, TintsLeaveTheGround) {
  files::Image image{1, 2, 3, std::vector<std::uint8_t>(6, 100)};
  const std::vector<std::uint16_t> classes{0, 2};
  tint(image, classes, 1);
  EXPECT_EQ(picture_pixel(image, 0, 0), (Colour{100, 100, 100}));
  EXPECT_EQ(picture_pixel(image, 0, 1), class_colour(2));
}

TEST(Base64, KnownTexts) {
  const auto of = [](std::string_view text) {
    return base64({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  };
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(of("f"), "Zg==");
  EXPECT_EQ(of("fo"), "Zm8=");
  EXPECT_EQ(of("foo"), "Zm9v");
  EXPECT_EQ(of("foobar"), "Zm9vYmFy");
  EXPECT_EQ(of("\xff\xfe\xfd"), "//79");
}

TEST(SvgSheet, TextIsEscapedAndCutBetweenCharacters) {
  SvgSheet sheet(100, 50, "a < b");
  sheet.text(1, 2, "c & d");
  const std::string svg = sheet.str();
  EXPECT_NE(svg.find("<title>a &lt; b</title>"), std::string::npos);
  EXPECT_NE(svg.find(">c &amp; d</text>"), std::string::npos);
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "ab\u2026");
  EXPECT_EQ(shortened("a\u00e9\u00e9", 3), "a\u2026");
}

}  // namespace
}  // namespace isobar::pictures
