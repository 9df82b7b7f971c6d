// JPEG files through libjpeg-turbo. The library reports errors by longjmp: it is only called from lambdas without local
// C++ objects, so that the jump skips no destructor.
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <jerror.h>
#include <jpeglib.h>

#include "isobar/base/error.hpp"
#include "isobar/files/image.hpp"

namespace isobar::files {
namespace {

struct JpegDecoder {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX] = "";

  JpegDecoder() {
    info.err = jpeg_std_error(&errors);
    info.client_data = this;
    errors.error_exit = [](j_common_ptr common) { give_up(common); };
    // Truncated data is only a warning to the library, which paints the rest grey.
    errors.emit_message = [](j_common_ptr common, int level) {
      const int code = common->err->msg_code;
      if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) give_up(common);
    };
  }
  ~JpegDecoder() { jpeg_destroy_decompress(&info); }
  JpegDecoder(const JpegDecoder&) = delete;

  [[noreturn]] static void give_up(j_common_ptr common) {
    auto* decoder = static_cast<JpegDecoder*>(common->client_data);
    common->err->format_message(common, decoder->message);
    std::longjmp(decoder->back, 1);
  }
};

template <class F>
bool finishes(JpegDecoder& decoder, const F& calls) {
  if (setjmp(decoder.back)) return false;
  calls();
  return true;
}

// Reads the header; a damaged file is an Error.
void begin(JpegDecoder& decoder, std::span<const std::uint8_t> file) {
  jpeg_decompress_struct* info = &decoder.info;
  const bool begun = finishes(decoder, [=] {
    jpeg_create_decompress(info);
    jpeg_mem_src(info, file.data(), file.size());
    jpeg_read_header(info, TRUE);
  });
  if (!begun) fail("is a damaged JPEG file: {}", decoder.message);
  if (info->num_components == 4) fail("is a JPEG file in four colours (CMYK); valid: grey or RGB");
}

// Decodes line by line: `place` returns where a line goes, `taken` is called when it is there.
template <class Place, class Taken>
void decode_lines(JpegDecoder& decoder, int channels, const Place& place, const Taken& taken) {
  jpeg_decompress_struct* info = &decoder.info;
  const bool decoded = finishes(decoder, [&, info] {
    info->out_color_space = channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_start_decompress(info);
    while (info->output_scanline < info->output_height) {
      const std::size_t number = info->output_scanline;
      JSAMPROW line = place(number);
      jpeg_read_scanlines(info, &line, 1);
      taken(number);
    }
    jpeg_finish_decompress(info);
  });
  if (!decoded) fail("is a damaged JPEG file: {}", decoder.message);
}

// Not inlined: a function that longjmp may return to keeps its variables in memory, which makes its loops slow.
[[gnu::noinline]] void rows_to_floats(const std::uint8_t* from, std::size_t count, float* to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

}  // namespace

void decode_jpeg(std::span<const std::uint8_t> file, const ImageWish& wish, Image& image) {
  JpegDecoder decoder;
  begin(decoder, file);
  prepare_image(decoder.info.image_height, decoder.info.image_width, wish, image);
  std::uint8_t* pixels = image.pixels.data();
  const std::size_t row = image.width * image.channels;
  decode_lines(
      decoder, wish.channels, [=](std::size_t number) { return pixels + number * row; }, [](std::size_t) {});
}

bool decode_jpeg_floats(std::span<const std::uint8_t> file, int channels, std::int64_t height, std::int64_t width,
                        std::span<float> out) {
  JpegDecoder decoder;
  begin(decoder, file);
  if (decoder.info.image_height != height || decoder.info.image_width != width) return false;
  const std::size_t row = width * channels;
  expects(out.size() == height * row, "memory of the image's size");
  thread_local std::vector<std::uint8_t> line;
  line.resize(row);
  std::uint8_t* const pixels = line.data();
  float* const to = out.data();
  decode_lines(
      decoder, channels, [=](std::size_t) { return pixels; },
      [=](std::size_t number) { rows_to_floats(pixels, row, to + number * row); });
  return true;
}

}  // namespace isobar::files
