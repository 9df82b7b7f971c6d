// The one stylesheet and the one script of all HTML pages.
#pragma once

#include <string_view>

namespace isobar::report {

/// The stylesheet. Classes: note, missing, good, bad, box, cards, columns, chart, picture, key, wide and narrow (shown
/// on screens of that kind); c0 to c9 have the colour of a category, s0 to s7 in a chart that of a curve.
std::string_view html_style();

/// Shows the <title> of the mark under the pointer at once; a page says the same without it.
std::string_view html_script();

}  // namespace isobar::report
