// SvgSheet: a picture made of text, lines, rectangles and images, which are embedded as PNG, so that it is one
// self-contained file. Sizes are in CSS pixels; the background is white, as for charts and print.
#pragma once

#include <string>
#include <string_view>

#include "isobar/files/image.hpp"
#include "isobar/pictures/colour_map.hpp"

namespace isobar::pictures {

/// How text is drawn.
struct TextStyle {
  int size = 13;
  std::string_view colour = "#1e293b";
  std::string_view anchor = "start";  ///< start, middle, end
  bool bold = false;
  double turned = 0;  ///< degrees, around its position
};

class SvgSheet {
 public:
  SvgSheet(double width, double height, std::string_view title);

  void text(double x, double y, std::string_view text, const TextStyle& style = {});
  /// `fill`, `stroke`: colours or "none".
  void rectangle(double x, double y, double width, double height, std::string_view fill,
                 std::string_view stroke = "none", double line = 1, std::string_view dashes = "");
  void line(double x1, double y1, double x2, double y2, std::string_view stroke, double width = 1);
  /// An image drawn at this size; enlarged pixels stay squares.
  void image(double x, double y, double width, double height, const files::Image& image);
  /// A coloured square followed by a word; returns where the next entry may begin.
  double legend(double x, double y, Colour colour, std::string_view word);
  /// Clips everything to this rectangle until end_clip().
  void begin_clip(double x, double y, double width, double height);
  void end_clip();
  /// The whole file.
  std::string str() const;

 private:
  std::string body_;
  int clips_ = 0;
};

/// The approximate width of a text of this size, in pixels.
double text_width(std::string_view text, int size);

/// At most `most` bytes of a text, with an ellipsis in place of what was cut; characters stay whole.
std::string shortened(std::string_view text, std::size_t most);

}  // namespace isobar::pictures
