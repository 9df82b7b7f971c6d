// Base64, which embeds pictures in pages and in other pictures: data:image/png;base64,...
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace isobar::pictures {

/// Three bytes become four characters; the end is padded with '='.
inline std::string base64(std::span<const std::uint8_t> bytes) {
  constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    const std::uint32_t three = static_cast<std::uint32_t>(bytes[i] << 16) |
                                static_cast<std::uint32_t>(left > 1 ? bytes[i + 1] << 8 : 0) |
                                static_cast<std::uint32_t>(left > 2 ? bytes[i + 2] : 0);
    text += letters[three >> 18];
    text += letters[three >> 12 & 63];
    text += left > 1 ? letters[three >> 6 & 63] : '=';
    text += left > 2 ? letters[three & 63] : '=';
  }
  return text;
}

}  // namespace isobar::pictures
