// HTML as our pages are made of: text, tables, sections and the frame around them. A page is one file
// that needs no network and no script to be read; its colours follow what the reader's system prefers, light or dark.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace isobar::report {

/// A column of a table; numbers stand at the right, digit below digit.
struct Column {
  std::string title;
  bool number = false;
};

/// A table that scrolls in its own box where the page is narrow. Titles are text, cells are HTML already; a row may be
/// shorter than the columns. With `last_is_sum` the last row is set off as the sum of the others.
std::string html_table(std::span<const Column> columns, std::span<const std::vector<std::string>> rows,
                       bool last_is_sum = false);

/// A table of names and values, both text.
std::string html_pairs(std::span<const std::pair<std::string, std::string>> pairs);

/// A section with a heading (text) and what stands below it (HTML).
std::string html_section(std::string_view id, std::string_view title, std::string_view body);

/// A whole page: the frame with the one stylesheet around a title (text) and a body (HTML).
std::string html_page(std::string_view title, std::string_view body);

}  // namespace isobar::report
