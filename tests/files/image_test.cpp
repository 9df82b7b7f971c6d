#include "isobar/files/image.hpp"

#include <gtest/gtest.h>

namespace isobar::files {
namespace {

TEST(Image, PngRoundTrip) {
  for (const int channels : {1, 3}) {
    Image image{.height = 5, .width = 7, .channels = channels};
    for (int i = 0; i < 5 * 7 * channels; ++i) image.pixels.push_back(static_cast<std::uint8_t>(i * 37));
    Image back;
    decode_image(encode_png(image), {.channels = channels}, back);
    EXPECT_EQ(back.height, 5);
    EXPECT_EQ(back.width, 7);
    EXPECT_EQ(back.pixels, image.pixels);
  }
  EXPECT_THROW(encode_png({.height = 2, .width = 2, .channels = 3, .pixels = {1, 2, 3}}), std::logic_error);
}

}  // namespace
}  // namespace isobar::files
