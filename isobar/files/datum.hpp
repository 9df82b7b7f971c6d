// Caffe's Datum: one labelled picture, as bytes or floats in planes [channels, height, width], or as a JPEG or PNG
// file.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace isobar::files {

/// One Datum, as a view into its bytes.
struct Datum {
  std::int64_t channels = 0, height = 0, width = 0;
  std::int64_t label = 0;
  bool encoded = false;
  std::span<const std::uint8_t> data{};     ///< planes, or a file when encoded
  std::span<const std::uint8_t> message{};  ///< the whole message, from which floats are read
  std::int64_t floats = 0;                  ///< how many numbers are stored as floats

  /// The planes as pixels [height, width, channels]; out.size() is the product.
  void pixels(std::span<float> out) const;
};

/// Reads a Datum; bytes that are not a Datum, or whose sizes disagree, are an Error.
Datum read_datum(std::span<const std::uint8_t> bytes);

/// A Datum of bytes in planes.
std::vector<std::uint8_t> datum_of_bytes(std::int64_t channels, std::int64_t height, std::int64_t width,
                                         std::int64_t label, std::span<const std::uint8_t> planes);
/// A Datum of floats in planes.
std::vector<std::uint8_t> datum_of_floats(std::int64_t channels, std::int64_t height, std::int64_t width,
                                          std::int64_t label, std::span<const float> planes);

}  // namespace isobar::files
