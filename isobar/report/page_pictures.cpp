// Pictures of what the network does, as the run left them in pictures/. Drawings and images are embedded as data, so
// that neither their styles nor anything else in them affects the rest of the page.
#include <charconv>
#include <fstream>

#include <fmt/format.h>

#include "isobar/base/html_text.hpp"
#include "isobar/base/text.hpp"
#include "isobar/pictures/base64.hpp"
#include "isobar/report/page_section.hpp"

namespace isobar::report {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_file = 3 << 20, largest_text = 200 << 10;

std::string bytes_of(const fs::path& file, std::uintmax_t most) {
  std::ifstream in(file, std::ios::binary);
  std::string bytes(most, '\0');
  in.read(bytes.data(), most);
  bytes.resize(std::max<std::streamsize>(0, in.gcount()));
  return bytes;
}

// The width that the file states, in pixels; 0 if it does not.
int width_of(std::string_view bytes, std::string_view kind) {
  const auto byte = [&](std::size_t i) { return static_cast<int>(static_cast<unsigned char>(bytes[i])); };
  if (kind == ".png" && bytes.size() > 20) return byte(18) << 8 | byte(19);
  if (kind == ".gif" && bytes.size() > 8) return byte(7) << 8 | byte(6);
  const std::string_view opening = bytes.substr(0, bytes.find('>'));
  const std::size_t at = opening.find(" width=\"");
  int width = 0;
  if (kind == ".svg" && at != std::string_view::npos)
    std::from_chars(opening.data() + at + 8, opening.data() + opening.size(), width);
  return width;
}

std::string shown_pictures(const pictures::Picture& picture) {
  const std::string kind = picture.file.extension().string();
  const std::string_view type = kind == ".svg"   ? "image/svg+xml"
                                : kind == ".png" ? "image/png"
                                : kind == ".gif" ? "image/gif"
                                                 : "";
  if (type.empty() && kind != ".txt")
    return missing_html(fmt::format("pictures/{} is of no kind a page can show.", picture.file.filename().string()));
  const std::uintmax_t limit = type.empty() ? largest_text : largest_file;
  const std::string bytes = bytes_of(picture.file, limit + 1);
  if (bytes.size() > limit)
    return missing_html(fmt::format("pictures/{} is larger than {}: open it beside this page.",
                                    picture.file.filename().string(), human_bytes(limit)));
  if (type.empty()) return fmt::format("<pre>{}</pre>\n", html_text(bytes));
  // A wide drawing with text scrolls instead of becoming too small to read.
  const int width = width_of(bytes, kind);
  const std::string size =
      width > 0 ? fmt::format(" style=\"width:{}px;min-width:{}px\"", width, std::min(width, 640)) : "";
  return fmt::format("<div class=\"picture\"><img alt=\"{}\"{} src=\"data:{};base64,{}\"></div>\n",
                     html_text(picture.title), size, type,
                     pictures::base64({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
}

std::string pictures_html(const PageSource& source) {
  if (source.run.pictures.empty())
    return missing_html(
        "There are no pictures: they are drawn when a run with a test set ends and report.pictures is true.");
  std::string text;
  for (const pictures::Picture& picture : source.run.pictures)
    text += fmt::format("<figure>\n{}<figcaption><b>{}</b> {}</figcaption>\n</figure>\n", shown_pictures(picture),
                        html_text(picture.title), html_text(picture.caption));
  return text;
}

}  // namespace

extern const Section pictures_section{"pictures", "What the network does", pictures_html};

}  // namespace isobar::report
