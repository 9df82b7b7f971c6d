#include "isobar/pictures/contact_sheet.hpp"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "isobar/pictures/colour_map.hpp"

namespace isobar::pictures {
namespace {

// x is a ramp along its last spatial axis plus a value from the test, y a map or a number.
class Made final : public datasets::Dataset {
 public:
  Made(std::int64_t count, Shape x, Shape y, float unit)
      : count_(count), x_(std::move(x)), y_(std::move(y)), unit_(unit) {}
  std::int64_t size() const override { return count_; }
  std::vector<datasets::Field> fields() const override { return {{"x", x_}, {"y", y_}}; }
  std::vector<std::string> channels() const override { return names; }
  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    for (std::size_t i = 0; i < out[0].size(); ++i)
      out[0][i] = unit_ * static_cast<float>((i + static_cast<std::size_t>(index)) % 200);
    for (std::size_t i = 0; i < out[1].size(); ++i) out[1][i] = static_cast<float>(i % 3);
  }
  std::vector<std::string> names;

 private:
  std::int64_t count_;
  Shape x_, y_;
  float unit_;
};

std::set<Colour> colours(const files::Image& image) {
  std::set<Colour> found;
  for (std::size_t i = 0; i < image.pixels.size(); i += 3)
    found.insert({image.pixels[i], image.pixels[i + 1], image.pixels[i + 2]});
  return found;
}

TEST(ColourMap, BeginsDarkEndsBright) {
  EXPECT_EQ(colour_at(0), (Colour{68, 1, 84}));
  EXPECT_EQ(colour_at(-3), colour_at(0));
  EXPECT_EQ(colour_at(1), (Colour{253, 231, 37}));
  EXPECT_EQ(colour_at(0.0625f), (Colour{70, 23, 103}));  // half-way between the first two stations
  EXPECT_EQ(colour_at(NAN), (Colour{128, 128, 128}));
  EXPECT_NE(class_colour(1), class_colour(2));
  EXPECT_EQ(class_colour(1), class_colour(8));
  EXPECT_NO_THROW(class_colour(-5));
}

TEST(ContactSheet, PicturesAsTheyAre) {
  const Made set(5, Shape{100, 120, 1}, Shape{1}, 1);
  const ContactSheet sheet = contact_sheet(set, 5);
  EXPECT_EQ(sheet.picture.width, 3 * 124 + 4);  // five in a square of three
  EXPECT_EQ(sheet.picture.height, 2 * 104 + 4);
  EXPECT_EQ(sheet.legend, "5 samples");
  const auto at = [&](std::int64_t y, std::int64_t x) {
    return sheet.picture.pixels[static_cast<std::size_t>((y * sheet.picture.width + x) * 3)];
  };
  EXPECT_EQ(at(0, 0), 255);
  EXPECT_EQ(at(4, 4 + 7), 7);
  EXPECT_EQ(at(4, 128 + 7), 8);  // the second sample
  const Made small(1, Shape{8, 8, 3}, Shape{1}, 1);
  EXPECT_EQ(contact_sheet(small, 16).picture.width, 8 * 12 + 8);
}

TEST(ContactSheet, ChannelsAndMapsOfClasses) {
  Made set(3, Shape{96, 100, 6}, Shape{96, 100}, 0.01f);
  set.names = {"TMQ", "U850", "V850", "UBOT", "VBOT", "PS"};
  const ContactSheet sheet = contact_sheet(set, 2);
  EXPECT_EQ(sheet.picture.width, 5 * 104 + 4);
  EXPECT_EQ(sheet.picture.height, 2 * 100 + 4);
  EXPECT_EQ(sheet.legend, "2 samples, from left to right: TMQ, U850, V850, UBOT, y over TMQ");
  EXPECT_GT(colours(sheet.picture).size(), 100u);
}

TEST(ContactSheet, VolumesRowsAndHugePlanesFitIn) {
  for (const Shape& shape : {Shape{5, 6, 7, 2}, Shape{3}, Shape{1}, Shape{1000000}, Shape{4, 9}, Shape{3000, 5000, 2},
                             Shape{2, 3, 4, 5, 6}, Shape{1, 1, 1, 1}}) {
    SCOPED_TRACE(shape.str());
    const ContactSheet sheet = contact_sheet(Made(20, shape, Shape{1}, 0.5f), 16);
    EXPECT_LE(sheet.picture.width, 5 * 300);
    EXPECT_LE(sheet.picture.height, 16 * 300);
    EXPECT_EQ(static_cast<std::int64_t>(sheet.picture.pixels.size()), sheet.picture.width * sheet.picture.height * 3);
  }
  const ContactSheet volume = contact_sheet(Made(1, Shape{5, 100, 100, 1}, Shape{1}, 0.5f), 1);
  EXPECT_EQ(volume.legend, "1 sample, from left to right: channel 0; the middle layer of each");
}

}  // namespace
}  // namespace isobar::pictures
