#include "isobar/report/html.hpp"

#include <fmt/format.h>

#include "isobar/base/html_text.hpp"

namespace isobar::report {

std::string html_table(std::span<const Column> columns, std::span<const std::vector<std::string>> rows,
                       bool last_is_sum) {
  const auto kind = [&](std::size_t i) { return i < columns.size() && columns[i].number ? " class=\"number\"" : ""; };
  std::string text = "<div class=\"box\"><table>\n<thead><tr>";
  for (std::size_t i = 0; i < columns.size(); ++i)
    text += fmt::format("<th scope=\"col\"{}>{}</th>", kind(i), html_text(columns[i].title));
  text += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows) {
    text += last_is_sum && &row == &rows.back() ? "<tr class=\"sum\">" : "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) text += fmt::format("<td{}>{}</td>", kind(i), row[i]);
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string html_pairs(std::span<const std::pair<std::string, std::string>> pairs) {
  std::string text = "<div class=\"box\"><table class=\"pairs\"><tbody>\n";
  for (const auto& [name, value] : pairs)
    text += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", html_text(name), html_text(value));
  return text + "</tbody></table></div>\n";
}

std::string html_section(std::string_view id, std::string_view title, std::string_view body) {
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", html_text(id), html_text(title), body);
}

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n"
      "<link rel=\"icon\" href=\"data:,\">\n<style>\n{}</style>\n</head>\n<body>\n{}<script>\n{}</script>\n"
      "</body>\n</html>\n",
      html_text(title), html_style(), body, html_script());
}

}  // namespace isobar::report
