// Small files for tests of the readers: idx and CIFAR bytes, JPEG and PNG pictures, gzip files and tar archives.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <jpeglib.h>
#include <png.h>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "isobar/base/error.hpp"

namespace isobar::tests {

using FileBytes = std::vector<std::uint8_t>;

inline void write_bytes(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out) throw std::runtime_error("a test file cannot be written");
}

/// An idx file of bytes with these extents; number i is values(i).
template <class F>
FileBytes idx_bytes(const std::vector<std::uint32_t>& extents, F values) {
  FileBytes bytes{0, 0, 8, static_cast<std::uint8_t>(extents.size())};
  std::size_t count = 1;
  for (const std::uint32_t n : extents) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(n >> shift));
    count *= n;
  }
  for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(values(i)));
  return bytes;
}

/// An archive of named files; with the single name "", just the content, compressed with gzip if requested.
inline void write_archive(const std::filesystem::path& path, std::span<const std::pair<std::string, FileBytes>> members,
                          bool gzip) {
  archive* out = archive_write_new();
  if (gzip) archive_write_add_filter_gzip(out);
  const bool bare = members.size() == 1 && members[0].first.empty();
  bare ? archive_write_set_format_raw(out) : archive_write_set_format_pax_restricted(out);
  expects(archive_write_open_filename(out, path.c_str()) == ARCHIVE_OK, "an archive that can be written");
  for (const auto& [name, content] : members) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, bare ? "content" : name.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    expects(archive_write_header(out, entry) == ARCHIVE_OK, "a member that can be written");
    archive_write_data(out, content.data(), content.size());
    archive_entry_free(entry);
  }
  archive_write_close(out);
  archive_write_free(out);
}

inline void write_gzip(const std::filesystem::path& path, const FileBytes& content) {
  const std::pair<std::string, FileBytes> only{"", content};
  write_archive(path, {&only, 1}, true);
}

/// A JPEG picture of best quality; pixels are [height, width, channels].
inline FileBytes jpeg_bytes(int height, int width, int channels, const FileBytes& pixels) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_height = static_cast<JDIMENSION>(height);
  info.image_width = static_cast<JDIMENSION>(width);
  info.input_components = channels;
  info.in_color_space = channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    JSAMPROW line =
        const_cast<JSAMPROW>(pixels.data()) + info.next_scanline * static_cast<std::size_t>(width * channels);
    jpeg_write_scanlines(&info, &line, 1);
  }
  jpeg_finish_compress(&info);
  FileBytes bytes(memory, memory + size);
  jpeg_destroy_compress(&info);
  std::free(memory);
  return bytes;
}

/// A PNG picture; pixels are [height, width, channels], four channels being red, green, blue, opacity.
inline FileBytes png_bytes(int height, int width, int channels, const FileBytes& pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.height = static_cast<png_uint_32>(height);
  image.width = static_cast<png_uint_32>(width);
  image.format = channels == 1 ? PNG_FORMAT_GRAY : channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
  png_alloc_size_t size = 0;
  expects(png_image_write_to_memory(&image, nullptr, &size, 0, pixels.data(), 0, nullptr), "a picture to encode");
  FileBytes bytes(size);
  expects(png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.data(), 0, nullptr), "a picture to encode");
  bytes.resize(size);
  return bytes;
}

/// A picture of one colour.
inline FileBytes flat_pixels(int height, int width, std::initializer_list<int> colour) {
  FileBytes pixels;
  for (int i = 0; i < height * width; ++i)
    for (const int c : colour) pixels.push_back(static_cast<std::uint8_t>(c));
  return pixels;
}

/// `count` CIFAR records: label_bytes labels (i + k) % classes, then planes whose value is base + 40 * plane + i.
inline FileBytes cifar_bytes(int count, int label_bytes, int classes, int base) {
  FileBytes bytes;
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < label_bytes; ++k) bytes.push_back(static_cast<std::uint8_t>((i + k) % classes));
    for (int plane = 0; plane < 3; ++plane)
      for (int p = 0; p < 1024; ++p) bytes.push_back(static_cast<std::uint8_t>(base + 40 * plane + i + (p == 33)));
  }
  return bytes;
}

}  // namespace isobar::tests
