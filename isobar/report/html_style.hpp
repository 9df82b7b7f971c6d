// The stylesheet and the script that all HTML pages share.
#pragma once

#include <string_view>

namespace isobar::report {

/// The stylesheet. Classes: note, missing, good, bad, box, cards, columns, chart, picture, key, wide and narrow (shown
/// on screens of that kind); c0 to c9 have the colour of a category, s0 to s7 in a chart that of a curve.
std::string_view html_style();

/// Shows the <title> of the mark under the pointer immediately; optional, since pages contain the same without it.
std::string_view html_script();

}  // namespace isobar::report
