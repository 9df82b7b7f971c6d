// PNG files through libpng's simplified interface, which reports errors by return. Transparent parts become black.
#include <png.h>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/files/image.hpp"

namespace isobar::files {
namespace {

struct Coder {
  png_image state{};
  Coder() { state.version = PNG_IMAGE_VERSION; }
  ~Coder() { png_image_free(&state); }
  Coder(const Coder&) = delete;
};

}  // namespace

void decode_png(std::span<const std::uint8_t> file, const ImageWish& wish, Image& image) {
  Coder reader;
  if (!png_image_begin_read_from_memory(&reader.state, file.data(), file.size()))
    fail("is a damaged PNG file: {}", one_line(reader.state.message));
  prepare_image(reader.state.height, reader.state.width, wish, image);
  reader.state.format = wish.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  const png_color black{0, 0, 0};
  if (!png_image_finish_read(&reader.state, &black, image.pixels.data(), 0, nullptr))
    fail("is a damaged PNG file: {}", one_line(reader.state.message));
}

std::vector<std::uint8_t> encode_png(const Image& image) {
  expects(image.height > 0 && image.width > 0 && image.height * image.width <= max_pixels &&
              (image.channels == 1 || image.channels == 3) &&
              std::ssize(image.pixels) == image.height * image.width * image.channels,
          "pixels of a picture's size");
  Coder writer;
  writer.state.height = image.height;
  writer.state.width = image.width;
  writer.state.format = image.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(writer.state);
  std::vector<std::uint8_t> file(bytes);
  if (!png_image_write_to_memory(&writer.state, file.data(), &bytes, 0, image.pixels.data(), 0, nullptr))
    fail("a picture cannot be written as PNG: {}", one_line(writer.state.message));
  file.resize(bytes);
  return file;
}

}  // namespace isobar::files
