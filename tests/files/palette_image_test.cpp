// Pictures of few colours: what is written is what other readers see; animations hold every frame.
#include "isobar/files/palette_image.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "isobar/files/image.hpp"

namespace isobar::files {
namespace {

PaletteImage stripes(int shift) {
  PaletteImage image{5, 7, {{0, 0, 0}, {255, 128, 3}, {9, 200, 77}}, {}};
  for (int i = 0; i < 35; ++i) image.pixels.push_back(static_cast<std::uint8_t>((i + shift) % 3));
  return image;
}

std::uint32_t number(const std::vector<std::uint8_t>& bytes, std::size_t at) {
  return std::uint32_t{bytes[at]} << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3];
}

void expect_shows(const std::vector<std::uint8_t>& file, const PaletteImage& image) {
  Image seen;
  decode_image(file, {}, seen);
  ASSERT_EQ(seen.height, image.height);
  ASSERT_EQ(seen.width, image.width);
  for (std::size_t i = 0; i < image.pixels.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c) ASSERT_EQ(seen.pixels[3 * i + c], image.colours[image.pixels[i]][c]);
}

TEST(PaletteImage, ReadersSeeItsColours) { expect_shows(encode_png(stripes(0)), stripes(0)); }

TEST(PaletteImage, AnimationBeginsAsAnOrdinaryPicture) {
  expect_shows(encode_animation(std::vector{stripes(1), stripes(2)}, 100), stripes(1));
}

TEST(PaletteImage, AnimationHoldsEveryFrame) {
  const std::vector frames{stripes(0), stripes(1), stripes(2)};
  const auto file = encode_animation(frames, 250);
  std::map<std::string, int> chunks;
  std::uint32_t sequence = 0;
  for (std::size_t at = 8; at < file.size();) {
    const std::uint32_t length = number(file, at);
    const std::string type(file.begin() + static_cast<std::ptrdiff_t>(at) + 4,
                           file.begin() + static_cast<std::ptrdiff_t>(at) + 8);
    ++chunks[type];
    if (type == "acTL") {
      EXPECT_EQ(number(file, at + 8), 3u);
    }
    if (type == "fcTL" || type == "fdAT") {
      EXPECT_EQ(number(file, at + 8), sequence++);
    }
    if (type == "fcTL") {
      EXPECT_EQ(number(file, at + 12), 7u);
      EXPECT_EQ(number(file, at + 16), 5u);
      EXPECT_EQ(number(file, at + 28), 250u << 16 | 1000u);
    }
    at += length + 12;
  }
  EXPECT_EQ(chunks["acTL"], 1);
  EXPECT_EQ(chunks["fcTL"], 3);
  EXPECT_EQ(chunks["IDAT"], 1);
  EXPECT_EQ(chunks["fdAT"], 2);
  EXPECT_EQ(chunks["PLTE"], 1);
  EXPECT_EQ(chunks["IEND"], 1);
}

}  // namespace
}  // namespace isobar::files
