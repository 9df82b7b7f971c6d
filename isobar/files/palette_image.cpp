// An APNG file is the first frame's PNG with acTL before its image data, fcTL before every frame's, and the data of
// later frames in fdAT chunks: IDAT with a sequence number in front (https://wiki.mozilla.org/APNG_Specification).
#include "isobar/files/palette_image.hpp"

#include <algorithm>
#include <libdeflate.h>
#include <png.h>
#include <string_view>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::files {
namespace {

using PaletteBytes = std::vector<std::uint8_t>;

constexpr std::size_t signature_bytes = 8;

void put_32(PaletteBytes& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(value >> shift));
}

void put_16(PaletteBytes& bytes, unsigned value) {
  bytes.push_back(static_cast<std::uint8_t>(value >> 8));
  bytes.push_back(static_cast<std::uint8_t>(value));
}

void put_chunk(PaletteBytes& bytes, std::string_view type, std::span<const std::uint8_t> content) {
  put_32(bytes, content.size());
  const std::size_t begin = bytes.size();
  bytes.insert(bytes.end(), type.begin(), type.end());
  bytes.insert(bytes.end(), content.begin(), content.end());
  put_32(bytes, libdeflate_crc32(0, bytes.data() + begin, bytes.size() - begin));
}

struct Chunk {
  std::string_view type;
  std::span<const std::uint8_t> content;
};

// The chunks of a file that libpng has just written.
std::vector<Chunk> chunks_of(const PaletteBytes& png) {
  std::vector<Chunk> chunks;
  for (std::size_t at = signature_bytes; at + 12 <= png.size();) {
    const std::size_t length = std::size_t{png[at]} << 24 | png[at + 1] << 16 | png[at + 2] << 8 | png[at + 3];
    expects(length <= png.size() - at - 12, "whole chunks");
    chunks.push_back({{reinterpret_cast<const char*>(png.data()) + at + 4, 4}, std::span(png).subspan(at + 8, length)});
    at += length + 12;
  }
  return chunks;
}

PaletteBytes frame_control(std::uint32_t number, const PaletteImage& image, int milliseconds) {
  PaletteBytes control;
  put_32(control, number);
  put_32(control, image.width);
  put_32(control, image.height);
  put_32(control, 0);  // offset in the picture
  put_32(control, 0);
  put_16(control, milliseconds);
  put_16(control, 1000);
  put_16(control, 0);  // no disposal; the next frame replaces this one
  return control;
}

}  // namespace

std::vector<std::uint8_t> encode_png(const PaletteImage& image) {
  expects(image.height > 0 && image.width > 0 && image.height * image.width <= (std::int64_t{1} << 28) &&
              image.pixels.size() == static_cast<std::size_t>(image.height * image.width),
          "an image with its pixels");
  expects(!image.colours.empty() && image.colours.size() <= 256, "1 to 256 colours");
  expects(std::ranges::max(image.pixels) < image.colours.size(), "pixels that have a colour");
  png_image state{};
  state.version = PNG_IMAGE_VERSION;
  state.width = image.width;
  state.height = image.height;
  state.format = PNG_FORMAT_RGB_COLORMAP;
  state.colormap_entries = image.colours.size();
  const auto write = [&](void* memory, png_alloc_size_t& bytes) {
    if (!png_image_write_to_memory(&state, memory, &bytes, 0, image.pixels.data(), 0, image.colours.data()))
      fail("a picture of {} x {} cannot be written as PNG: {}", image.width, image.height, one_line(state.message));
  };
  png_alloc_size_t bytes = 0;
  write(nullptr, bytes);
  PaletteBytes file(bytes);
  write(file.data(), bytes);
  file.resize(bytes);
  return file;
}

std::vector<std::uint8_t> encode_animation(std::span<const PaletteImage> frames, int milliseconds) {
  expects(!frames.empty() && milliseconds >= 0 && milliseconds <= 65535, "frames, each for at most 65 seconds");
  PaletteBytes file;
  std::uint32_t number = 0;
  for (const PaletteImage& frame : frames) {
    expects(frame.height == frames[0].height && frame.width == frames[0].width && frame.colours == frames[0].colours,
            "frames of one size and palette");
    const PaletteBytes png = encode_png(frame);
    const bool first = &frame == frames.data();
    if (first) file.assign(png.begin(), png.begin() + signature_bytes);
    bool begun = false;
    for (const Chunk& chunk : chunks_of(png)) {
      const bool pixels = chunk.type == "IDAT";
      if (pixels && !begun) {
        begun = true;
        if (first) {
          PaletteBytes control;
          put_32(control, frames.size());
          put_32(control, 0);  // loop forever
          put_chunk(file, "acTL", control);
        }
        put_chunk(file, "fcTL", frame_control(number++, frame, milliseconds));
      }
      if (first) {
        if (chunk.type != "IEND") put_chunk(file, chunk.type, chunk.content);
      } else if (pixels) {
        PaletteBytes numbered;
        put_32(numbered, number++);
        numbered.insert(numbered.end(), chunk.content.begin(), chunk.content.end());
        put_chunk(file, "fdAT", numbered);
      }
    }
  }
  put_chunk(file, "IEND", {});
  return file;
}

}  // namespace isobar::files
