#include "isobar/pictures/contact_sheet.hpp"

#include <algorithm>
#include <cmath>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/pictures/colour_map.hpp"
#include "isobar/pictures/planes.hpp"

namespace isobar::pictures {
namespace {

constexpr std::int64_t most_samples = 16, most_sheet_channels = 4, most_sheet_edge = 288, least_edge = 96,
                       sheet_gap = 4;

/// One tile of the sheet: the picture of a plane, scaled to a suitable size.
class Panel {
 public:
  Panel(std::int64_t rows, std::int64_t columns) {
    const std::int64_t longer = std::max(rows, columns);
    enlarged_ = longer >= least_edge ? 1 : (least_edge + longer - 1) / longer;
    reduced_ = (longer + most_sheet_edge - 1) / most_sheet_edge;
    // A single row of numbers becomes a visible band.
    stretched_ = rows == 1 ? std::max<std::int64_t>(1, 16 / enlarged_) : 1;
    height = std::max<std::int64_t>(1, rows * enlarged_ * stretched_ / reduced_);
    width = std::max<std::int64_t>(1, columns * enlarged_ / reduced_);
  }

  template <class ColourOf>
  void draw(files::Image& sheet, std::int64_t top, std::int64_t left, const Plane& plane, ColourOf colour_of) const {
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x) {
        const std::int64_t from_y = std::min(y * reduced_ / (enlarged_ * stretched_), plane.height - 1);
        const Colour colour = colour_of(from_y, std::min(x * reduced_ / enlarged_, plane.width - 1));
        std::ranges::copy(colour, sheet.pixels.begin() + ((top + y) * sheet.width + left + x) * 3);
      }
  }

  std::int64_t height = 1, width = 1;

 private:
  std::int64_t enlarged_ = 1, reduced_ = 1, stretched_ = 1;
};

std::string channel_name(const std::vector<std::string>& names, std::int64_t number) {
  const std::size_t n = number;
  return n < names.size() ? names[n] : fmt::format("channel {}", number);
}

}  // namespace

ContactSheet contact_sheet(const datasets::Dataset& dataset, std::int64_t samples) {
  const std::int64_t count = std::min({samples, most_samples, dataset.size()});
  expects(count > 0, "at least one sample to draw");
  const std::vector<datasets::Field> fields = dataset.fields();
  std::vector<std::vector<float>> memory;
  for (const datasets::Field& field : fields) memory.emplace_back(field.shape.count());
  const std::vector<std::span<float>> out(memory.begin(), memory.end());
  dataset.read(0, out);

  const Planes x(fields[0].shape, true);
  const bool picture = is_picture(memory[0], x.channels, x.shape);
  const std::int64_t channels = picture ? 1 : std::min(most_sheet_channels, x.channels);
  const Planes y = fields.size() > 1 ? Planes(fields[1].shape, false) : Planes(Shape{}, false);
  const bool map = fields.size() > 1 && fields[1].shape.rank() > 1 && y.height == x.height && y.width == x.width;
  const Panel panel(x.height, x.width);
  const std::int64_t panels = channels + (map ? 1 : 0);
  // Samples with several planes have a line each; those with one plane fill a square.
  std::int64_t across = panels;
  if (panels == 1)
    while (across * across < count) ++across;
  const std::int64_t down = (count * panels + across - 1) / across;

  ContactSheet sheet;
  files::Image& image = sheet.picture;
  image.height = down * (panel.height + sheet_gap) + sheet_gap;
  image.width = across * (panel.width + sheet_gap) + sheet_gap;
  image.pixels.assign(image.height * image.width * 3, 255);
  for (std::int64_t s = 0; s < count; ++s) {
    if (s > 0) dataset.read(s, out);
    for (std::int64_t p = 0; p < panels; ++p) {
      const std::int64_t at = s * panels + p;
      const std::int64_t top = sheet_gap + at / across * (panel.height + sheet_gap),
                         left = sheet_gap + at % across * (panel.width + sheet_gap);
      const Plane plane = x.plane(memory[0], p == channels ? 0 : p);
      const auto [low, high] = range_of(plane);
      const float width = high > low ? high - low : 1.0f;
      panel.draw(image, top, left, plane, [&, lowest = low](std::int64_t row, std::int64_t column) -> Colour {
        const float* value = plane.first + row * plane.row + column * plane.column;
        Colour colour;
        if (picture)
          for (std::size_t c = 0; c < 3; ++c)
            colour[c] = static_cast<std::uint8_t>(std::clamp(value[x.channels == 3 ? c : 0], 0.0f, 255.0f));
        else colour = colour_at((*value - lowest) / width);
        if (p < channels) return colour;
        const float label = y.plane(memory[1], 0).at(row, column);
        const auto grey = static_cast<std::uint8_t>((colour[0] + 2 * colour[1] + colour[2]) / 4);
        return label >= 1 ? mixed(class_colour(std::llround(label)), {grey, grey, grey}) : Colour{grey, grey, grey};
      });
    }
  }
  std::vector<std::string> columns;
  for (std::int64_t c = 0; c < channels && !picture; ++c) columns.push_back(channel_name(dataset.channels(), c));
  if (map) columns.push_back(fields[1].name + " over " + (picture ? "x" : columns[0]));
  sheet.legend = fmt::format("{} sample{}", count, count > 1 ? "s" : "");
  if (!columns.empty()) sheet.legend += ", from left to right: " + join(columns, ", ");
  if (x.shape.rank() > 3) sheet.legend += "; the middle layer of each";
  return sheet;
}

}  // namespace isobar::pictures
