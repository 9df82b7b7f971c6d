// Escapes text for HTML: it is shown as it is, and nothing in it is taken for a tag.
#pragma once

#include <string>
#include <string_view>

namespace isobar {

/// `text` escaped for HTML and SVG, attributes included; bytes that are not valid UTF-8 become U+FFFD.
std::string html_text(std::string_view text);

}  // namespace isobar
