// Image: pictures from JPEG and PNG files, recognised by their first bytes. Sizes are checked before memory is
// allocated, and a damaged or truncated file is an Error that says so; callers add the file's name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace isobar::files {

/// Eight-bit pixels [height, width, channels].
struct Image {
  std::int64_t height = 0, width = 0;
  int channels = 3;
  std::vector<std::uint8_t> pixels{};
};

/// What an image must be to be decoded.
struct ImageWish {
  int channels = 3;                    ///< 3: red, green, blue; 1: grey. Images of the other kind are converted
  std::int64_t height = 0, width = 0;  ///< 0: any
};

inline constexpr std::int64_t max_pixels = std::int64_t{1} << 26;

/// Decodes a whole file into `image`, reusing its memory.
void decode_image(std::span<const std::uint8_t> file, const ImageWish& wish, Image& image);

/// Whether a file name is that of an image: .jpg, .jpeg or .png, in upper or lower case.
bool is_image_name(std::string_view name);

/// Converts to floats 0..255, [height, width, channels], and resizes if the size differs: with a triangle filter that
/// widens when an image shrinks, so that every pixel contributes.
void fit_image(const Image& image, std::int64_t height, std::int64_t width, std::span<float> out);

/// The bytes of a PNG file with this image.
std::vector<std::uint8_t> encode_png(const Image& image);

/// decode_image() and fit_image() in one; a JPEG file that already has this size is converted to floats line by line.
void decode_fitted(std::span<const std::uint8_t> file, const ImageWish& wish, std::int64_t height, std::int64_t width,
                   std::span<float> out);

/// Gives `image` its new size after checking it against the wish and against max_pixels.
void prepare_image(std::int64_t height, std::int64_t width, const ImageWish& wish, Image& image);

/// The decoders behind decode_image().
void decode_jpeg(std::span<const std::uint8_t> file, const ImageWish& wish, Image& image);
/// Decodes into floats when the image has this size; otherwise returns false.
bool decode_jpeg_floats(std::span<const std::uint8_t> file, int channels, std::int64_t height, std::int64_t width,
                        std::span<float> out);
void decode_png(std::span<const std::uint8_t> file, const ImageWish& wish, Image& image);

}  // namespace isobar::files
