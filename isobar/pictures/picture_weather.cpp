// weather: consecutive samples as an animated map. Predictions are tinted, true areas are outlined; a bar at the bottom
// shows the time. Animated PNG, which every browser plays.
#include <algorithm>
#include <cmath>

#include "isobar/base/text.hpp"
#include "isobar/disk/output_file.hpp"
#include "isobar/files/palette_image.hpp"
#include "isobar/pictures/map_survey.hpp"
#include "isobar/pictures/sample_time.hpp"

namespace isobar::pictures {
namespace {

constexpr std::int64_t wanted_width = 1008, bar_height = 6, most_bytes = 5'000'000;
constexpr int weather_shades = 40, tints = 5, milliseconds = 300;
constexpr float weather_strength = 0.6f;
// The palette: shades of the background, the same under the tint of each class, lines of each class, both colours of
// the bar.
constexpr int first_line = weather_shades * (tints + 1), bar_colour = first_line + tints, bar_ground = bar_colour + 1;

// Classes beyond those of the palette share its colours.
int tint_of(std::uint16_t number) { return number == 0 ? 0 : (number - 1) % tints + 1; }

std::vector<files::Colour> weather_palette() {
  std::vector<files::Colour> colours;
  for (int t = 0; t <= tints; ++t)
    for (int s = 0; s < weather_shades; ++s) {
      const auto grey = static_cast<std::uint8_t>(255 * s / (weather_shades - 1));
      const Colour ground{grey, grey, grey};
      colours.push_back(t == 0 ? ground : mixed(ground, class_colour(t), weather_strength));
    }
  for (int t = 1; t <= tints; ++t) colours.push_back(mixed(class_colour(t), {0, 0, 0}, 0.55f));
  colours.push_back({51, 65, 85});
  colours.push_back({226, 232, 240});
  return colours;
}

// The brightness at a position between pixels.
float between(const files::Image& image, float row, float column) {
  const auto last_row = static_cast<float>(image.height - 1), last_column = static_cast<float>(image.width - 1);
  row = std::clamp(row, 0.0f, last_row), column = std::clamp(column, 0.0f, last_column);
  const auto r = static_cast<std::int64_t>(row), c = static_cast<std::int64_t>(column);
  const auto at = [&](std::int64_t y, std::int64_t x) {
    return static_cast<float>(
        image.pixels[3 * (std::min(y, image.height - 1) * image.width + std::min(x, image.width - 1))]);
  };
  const float down = row - static_cast<float>(r), right = column - static_cast<float>(c);
  return (1 - down) * ((1 - right) * at(r, c) + right * at(r, c + 1)) +
         down * ((1 - right) * at(r + 1, c) + right * at(r + 1, c + 1));
}

class Frames {
 public:
  explicit Frames(const files::Image& like) : enlarged_(std::max<std::int64_t>(1, wanted_width / like.width)) {
    height_ = like.height * enlarged_, width_ = like.width * enlarged_;
  }

  files::PaletteImage draw(const MapLook& look, double passed) const {
    files::PaletteImage image{height_ + bar_height, width_, weather_palette(), {}};
    image.pixels.reserve(image.height * image.width);
    const auto enlarged = static_cast<float>(enlarged_);
    for (std::int64_t row = 0; row < height_; ++row)
      for (std::int64_t column = 0; column < width_; ++column) {
        const float y = (static_cast<float>(row) + 0.5f) / enlarged - 0.5f,
                    x = (static_cast<float>(column) + 0.5f) / enlarged - 0.5f;
        const int shade = static_cast<int>(std::lround(between(look.greys, y, x) * (weather_shades - 1) / 255));
        image.pixels.push_back(
            static_cast<std::uint8_t>(tint_of(look.predicted[place(row, column)]) * weather_shades + shade));
      }
    if (!look.truth.empty()) outline(look, image);
    const auto until = static_cast<std::int64_t>(std::lround(passed * static_cast<double>(width_)));
    for (std::int64_t row = 0; row < bar_height; ++row)
      for (std::int64_t column = 0; column < width_; ++column)
        image.pixels.push_back(static_cast<std::uint8_t>(column < until ? bar_colour : bar_ground));
    return image;
  }

 private:
  std::size_t place(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row / enlarged_ * (width_ / enlarged_) + column / enlarged_);
  }

  // A line just inside the true area, two pixels wide where there is room.
  void outline(const MapLook& look, files::PaletteImage& image) const {
    const std::int64_t thick = enlarged_ >= 4 ? 2 : 1;
    for (std::int64_t row = 0; row < height_; ++row)
      for (std::int64_t column = 0; column < width_; ++column) {
        const std::uint16_t own = look.truth[place(row, column)];
        if (own == 0) continue;
        const auto differs = [&](std::int64_t r, std::int64_t c) {
          return r >= 0 && r < height_ && c >= 0 && c < width_ && look.truth[place(r, c)] != own;
        };
        if (differs(row - thick, column) || differs(row + thick, column) || differs(row, column - thick) ||
            differs(row, column + thick))
          image.pixels[row * width_ + column] = static_cast<std::uint8_t>(first_line + tint_of(own) - 1);
      }
  }

  std::int64_t enlarged_, height_ = 0, width_ = 0;
};

bool fits_weather(const Subject& subject) {
  return subject.task() == Task::maps && subject.dataset() && consecutive_samples(*subject.dataset(), 4) > 0;
}

std::vector<Picture> draw_weather(Subject& subject, const std::filesystem::path& folder) {
  const MapSurvey& survey = map_survey(subject);
  const std::size_t count = survey.consecutive;
  if (count < 2) return {};
  const Frames frames(survey.looks[0].greys);
  std::vector<files::PaletteImage> drawn;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count && bytes < most_bytes; ++i) {
    drawn.push_back(frames.draw(survey.looks[i], static_cast<double>(i + 1) / count));
    // All frames have about the same size.
    if (i == 0) bytes = files::encode_png(drawn[0]).size();
    if ((i + 2) * bytes > most_bytes) break;
  }
  disk::OutputFile file(folder / "weather.png");
  file.write(files::encode_animation(drawn, milliseconds));
  file.commit();
  std::string classes;
  constexpr const char* names[] = {"orange", "light blue", "green", "yellow", "vermilion"};
  for (std::int64_t c = 1; c < std::min<std::int64_t>(subject.classes(), tints + 1); ++c)
    classes += fmt::format("{}{} {}", classes.empty() ? "" : ", ", names[c - 1], subject.class_name(c));
  const std::int64_t hours =
      hour_in(survey.looks[drawn.size() - 1].where).value_or(0) - hour_in(survey.looks[0].where).value_or(0);
  return {{"", "The predictions over time",
           fmt::format("{} test samples over {} hours. Tinted: predictions ({}); lines: the truth.{}", drawn.size(),
                       hours, classes, survey.shown.empty() ? "" : fmt::format(" The ground is {}.", survey.shown)),
           "weather.png"}};
}

}  // namespace

extern const PictureKind weather{"weather", "predictions over time", fits_weather, draw_weather};

}  // namespace isobar::pictures
