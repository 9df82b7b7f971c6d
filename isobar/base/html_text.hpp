// Text among markup: what it says is shown, and nothing in it is taken for a tag.
#pragma once

#include <string>
#include <string_view>

namespace isobar {

/// `text` as it may stand in HTML and SVG, in attributes too; bytes that are no text become U+FFFD.
std::string html_text(std::string_view text);

}  // namespace isobar
