// The parts of our HTML pages: text, tables, sections and the frame around them. A page is one file that needs neither
// network nor script; its colours follow the reader's preference for light or dark.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace isobar::report {

/// A column of a table; numbers are right-aligned.
struct Column {
  std::string title;
  bool number = false;
};

/// A table that scrolls in its own box where the page is narrow. Titles are text, cells are HTML; a row may have fewer
/// cells than there are columns. With `last_is_sum` the last row is highlighted as the sum of the others.
std::string html_table(std::span<const Column> columns, std::span<const std::vector<std::string>> rows,
                       bool last_is_sum = false);

/// A table of names and values, both text.
std::string html_pairs(std::span<const std::pair<std::string, std::string>> pairs);

/// A section with a heading (text) and a body (HTML).
std::string html_section(std::string_view id, std::string_view title, std::string_view body);

/// A whole page: the frame with the stylesheet around a title (text) and a body (HTML).
std::string html_page(std::string_view title, std::string_view body);

/// The stylesheet. Classes: note, missing, good, bad, box, cards, columns, chart, picture, key, wide and narrow (shown
/// on screens of that kind); c0 to c9 have the colour of a category, s0 to s7 in a chart that of a curve.
std::string_view html_style();

/// Shows the <title> of the mark under the pointer immediately; optional, since pages contain the same without it.
std::string_view html_script();

}  // namespace isobar::report
