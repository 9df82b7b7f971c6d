// Text as it may stand in an SVG picture.
#pragma once

#include <string>
#include <string_view>

namespace isobar::report {

/// `text` with the characters that mean something in XML replaced.
inline std::string svg_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else out += c;
  }
  return out;
}

}  // namespace isobar::report
