// JPEG files through libjpeg-turbo. The library reports errors by longjmp: it is only called from lambdas without C++
// objects of their own, so that the jump passes over nothing that would have to be destroyed.
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <jerror.h>
#include <jpeglib.h>

#include "isobar/base/error.hpp"
#include "isobar/files/image.hpp"

namespace isobar::files {
namespace {

struct Decoder {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX] = "";

  Decoder() {
    info.err = jpeg_std_error(&errors);
    info.client_data = this;
    errors.error_exit = [](j_common_ptr common) { give_up(common); };
    // Data that ends too early is only a warning to the library, which paints the rest grey.
    errors.emit_message = [](j_common_ptr common, int level) {
      const int code = common->err->msg_code;
      if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) give_up(common);
    };
  }
  ~Decoder() { jpeg_destroy_decompress(&info); }
  Decoder(const Decoder&) = delete;

  [[noreturn]] static void give_up(j_common_ptr common) {
    auto* decoder = static_cast<Decoder*>(common->client_data);
    common->err->format_message(common, decoder->message);
    std::longjmp(decoder->back, 1);
  }
};

template <class F>
bool finishes(Decoder& decoder, const F& calls) {
  if (setjmp(decoder.back)) return false;
  calls();
  return true;
}

}  // namespace

void decode_jpeg(std::span<const std::uint8_t> file, const ImageWish& wish, Image& image) {
  Decoder decoder;
  jpeg_decompress_struct* info = &decoder.info;
  const auto must = [&](const auto& calls) {
    if (!finishes(decoder, calls)) fail("is a damaged JPEG file: {}", decoder.message);
  };
  must([=] {
    jpeg_create_decompress(info);
    jpeg_mem_src(info, file.data(), static_cast<unsigned long>(file.size()));
    jpeg_read_header(info, TRUE);
  });
  if (info->num_components == 4) fail("is a JPEG file in four colours (CMYK); valid: grey or RGB");
  prepare_image(info->image_height, info->image_width, wish, image);
  std::uint8_t* pixels = image.pixels.data();
  const std::size_t row = static_cast<std::size_t>(image.width * image.channels);
  must([=] {
    info->out_color_space = wish.channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_start_decompress(info);
    while (info->output_scanline < info->output_height) {
      JSAMPROW line = pixels + info->output_scanline * row;
      jpeg_read_scanlines(info, &line, 1);
    }
    jpeg_finish_decompress(info);
  });
}

}  // namespace isobar::files
