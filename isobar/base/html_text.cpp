#include "isobar/base/html_text.hpp"

namespace isobar {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

// Length of the UTF-8 character that begins at `at`, or 0 if the bytes there are not valid.
std::size_t character(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  const std::size_t length = first < 0x80 ? 1 : first >= 0xC2 && first < 0xE0 ? 2 : (first & 0xF0) == 0xE0 ? 3 : 4;
  if (first >= 0x80 && (first < 0xC2 || first > 0xF4)) return 0;
  if (length > text.size() - at) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  if (length == 3 && ((first == 0xE0 && byte(at + 1) < 0xA0) || (first == 0xED && byte(at + 1) >= 0xA0))) return 0;
  if (length == 4 && ((first == 0xF0 && byte(at + 1) < 0x90) || (first == 0xF4 && byte(at + 1) >= 0x90))) return 0;
  return length;
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character(text, i);
    const char c = text[i];
    if (length == 0) out += replacement;
    else if (length > 1) out += text.substr(i, length);
    else if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else if (c == '\'') out += "&#39;";
    else if ((c >= 0 && c < ' ' && c != '\n' && c != '\t') || c == '\x7f') out += replacement;
    else out += c;
    i += length == 0 ? 1 : length;
  }
  return out;
}

}  // namespace isobar
