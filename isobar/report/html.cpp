#include "isobar/report/html.hpp"

#include <fmt/format.h>

#include "isobar/report/html_style.hpp"

namespace isobar::report {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

// Length of the UTF-8 character that begins at `at`, or 0 when the bytes there are none.
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
