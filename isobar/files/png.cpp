// PNG files through libpng's simplified interface, which reports errors by return. Transparent parts become black.
#include <png.h>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/files/image.hpp"

namespace isobar::files {
namespace {

struct Reader {
  png_image state{};
  Reader() { state.version = PNG_IMAGE_VERSION; }
  ~Reader() { png_image_free(&state); }
  Reader(const Reader&) = delete;
};

}  // namespace

void decode_png(std::span<const std::uint8_t> file, const ImageWish& wish, Image& image) {
  Reader reader;
  if (!png_image_begin_read_from_memory(&reader.state, file.data(), file.size()))
    fail("is a damaged PNG file: {}", one_line(reader.state.message));
  prepare_image(reader.state.height, reader.state.width, wish, image);
  reader.state.format = wish.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  const png_color black{0, 0, 0};
  if (!png_image_finish_read(&reader.state, &black, image.pixels.data(), 0, nullptr))
    fail("is a damaged PNG file: {}", one_line(reader.state.message));
}

}  // namespace isobar::files
