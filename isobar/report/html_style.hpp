// The one stylesheet and the one script of all HTML pages.
#pragma once

#include <string_view>

namespace isobar::report {

/// The stylesheet. Classes: note, missing, numbers, chart, wide and narrow (shown on screens of that kind), cards,
/// grid; c0 to c9 fill with the colour of a category, s0 to s7 with that of a curve.
std::string_view html_style();

/// Shows the <title> of the mark under the pointer at once; a page says the same without it.
std::string_view html_script();

}  // namespace isobar::report
