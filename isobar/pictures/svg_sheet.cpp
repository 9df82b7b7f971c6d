#include "isobar/pictures/svg_sheet.hpp"

#include <fmt/format.h>

#include "isobar/base/html_text.hpp"
#include "isobar/pictures/base64.hpp"

namespace isobar::pictures {
namespace {

constexpr int legend_size = 13, swatch = 13;

}  // namespace

SvgSheet::SvgSheet(double width, double height, std::string_view title) {
  body_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n<title>{2}</title>\n"
      "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#ffffff\"/>\n",
      width, height, html_text(title));
}

void SvgSheet::text(double x, double y, std::string_view text, const TextStyle& style) {
  body_ += fmt::format(
      "<text {} font-size=\"{}\" fill=\"{}\" text-anchor=\"{}\"{}>{}</text>\n",
      style.turned != 0 ? fmt::format("transform=\"translate({:.1f} {:.1f}) rotate({:g})\"", x, y, style.turned)
                        : fmt::format("x=\"{:.1f}\" y=\"{:.1f}\"", x, y),
      style.size, style.colour, style.anchor, style.bold ? " font-weight=\"600\"" : "", html_text(text));
}

void SvgSheet::rectangle(double x, double y, double width, double height, std::string_view fill,
                         std::string_view stroke, double line, std::string_view dashes) {
  body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"", x, y, width,
                       height, fill);
  if (stroke != "none") body_ += fmt::format(" stroke=\"{}\" stroke-width=\"{:g}\"", stroke, line);
  if (!dashes.empty()) body_ += fmt::format(" stroke-dasharray=\"{}\"", dashes);
  body_ += "/>\n";
}

void SvgSheet::line(double x1, double y1, double x2, double y2, std::string_view stroke, double width) {
  body_ += fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{:g}\"/>\n", x1, y1,
      x2, y2, stroke, width);
}

void SvgSheet::image(double x, double y, double width, double height, const files::Image& image) {
  body_ += fmt::format(
      "<image x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" preserveAspectRatio=\"none\"{} "
      "href=\"data:image/png;base64,{}\"/>\n",
      x, y, width, height, width > static_cast<double>(image.width) ? " style=\"image-rendering:pixelated\"" : "",
      base64(files::encode_png(image)));
}

double SvgSheet::legend(double x, double y, Colour colour, std::string_view word) {
  rectangle(x, y - swatch + 2, swatch, swatch, hex(colour));
  text(x + swatch + 6, y, word, {.size = legend_size});
  return x + swatch + 6 + text_width(word, legend_size) + 20;
}

void SvgSheet::begin_clip(double x, double y, double width, double height) {
  body_ += fmt::format(
      "<clipPath id=\"clip{0}\"><rect x=\"{1:.1f}\" y=\"{2:.1f}\" width=\"{3:.1f}\" height=\"{4:.1f}\"/></clipPath>"
      "<g clip-path=\"url(#clip{0})\">\n",
      clips_++, x, y, width, height);
}

void SvgSheet::end_clip() { body_ += "</g>\n"; }

std::string SvgSheet::str() const { return body_ + "</svg>\n"; }

double text_width(std::string_view text, int size) { return 0.56 * size * static_cast<double>(text.size()); }

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t end = most - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "\u2026";
}

}  // namespace isobar::pictures
