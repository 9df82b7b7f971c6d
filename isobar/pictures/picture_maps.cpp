// maps: input, label and prediction side by side for the best, a typical and the worst sample, with the intersection
// over union of every class.
#include <cmath>

#include "isobar/base/text.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/pictures/map_survey.hpp"
#include "isobar/pictures/svg_sheet.hpp"

namespace isobar::pictures {
namespace {

constexpr double map_margin = 12, map_gap = 12, sheet_width = 1200, map_legend_height = 56, map_heading = 46;
constexpr std::int64_t most_legend = 12;
constexpr float strength = 0.75f;

std::string score_text(const Subject& subject, const MapLook& look) {
  std::string text;
  for (std::size_t c = 0; c < look.overlaps.size() && c < most_legend; ++c) {
    const std::string name = subject.class_name(c);
    text += fmt::format("{}{} {}", text.empty() ? "IoU: " : ", ", name,
                        std::isfinite(look.overlaps[c]) ? fmt::format("{:.2f}", look.overlaps[c]) : "not there");
  }
  return text;
}

void draw_row(SvgSheet& sheet, double top, double width, double height, const Subject& subject, const MapLook& look,
              std::string_view role) {
  sheet.text(map_margin, top + 17, fmt::format("{}: {}", role, look.where), {.size = 15, .bold = true});
  sheet.text(map_margin, top + 36, score_text(subject, look), {.size = 13, .colour = "#475569"});
  double left = map_margin;
  const auto panel = [&](const files::Image& image) {
    sheet.image(left, top + map_heading, width, height, image);
    sheet.rectangle(left, top + map_heading, width, height, "none", "#94a3b8");
    left += width + map_gap;
  };
  panel(look.colours);
  if (!look.truth.empty()) {
    files::Image label = look.greys;
    tint(label, look.truth, strength);
    panel(label);
  }
  files::Image prediction = look.greys;
  tint(prediction, look.predicted, strength);
  panel(prediction);
}

// A path is too long for a heading; its last part identifies the sample.
std::string short_name(const std::string& where) {
  const std::string name = where.substr(where.find_last_of('/') + 1);
  return name.size() > 70 ? "..." + name.substr(name.size() - 67) : name;
}

bool fits_maps(const Subject& subject) { return subject.task() == Task::maps && subject.samples() > 0; }

std::vector<Picture> draw_maps(Subject& subject, const std::filesystem::path& folder) {
  const MapSurvey& survey = map_survey(subject);
  if (survey.looks.empty()) return {};
  std::vector<std::size_t> chosen = survey.ranked;
  const bool ranked = !chosen.empty();
  for (std::size_t i = 0; !ranked && i < std::min<std::size_t>(3, survey.looks.size()); ++i) chosen.push_back(i);
  const MapLook& first = survey.looks[chosen[0]];
  const double panels = first.truth.empty() ? 2 : 3;
  const double width = (sheet_width - 2 * map_margin - 2 * map_gap) / 3;
  const double height = width * static_cast<double>(first.colours.height) / first.colours.width;
  const double row_height = map_heading + height + 2 * map_gap;
  SvgSheet sheet(2 * map_margin + panels * width + (panels - 1) * map_gap,
                 map_legend_height + row_height * static_cast<double>(chosen.size()) + map_margin,
                 "Input, label and prediction");
  const std::vector<std::string> titles = first.truth.empty()
                                              ? std::vector<std::string>{"input", "prediction"}
                                              : std::vector<std::string>{"input", "label", "prediction"};
  for (std::size_t i = 0; i < titles.size(); ++i)
    sheet.text(map_margin + static_cast<double>(i) * (width + map_gap), 48,
               i == 0 && !survey.shown.empty() ? fmt::format("input: {}", survey.shown) : titles[i],
               {.size = 15, .colour = "#475569"});
  double x = map_margin;
  for (std::int64_t c = 1; c < std::min(subject.classes(), most_legend); ++c)
    x = sheet.legend(x, 20, class_colour(c), subject.class_name(c));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::string_view role = !ranked ? "Sample" : i == 0 ? "Best" : i + 1 == chosen.size() ? "Worst" : "Typical";
    MapLook look = survey.looks[chosen[i]];
    look.where = short_name(look.where);
    draw_row(sheet, map_legend_height + row_height * static_cast<double>(i), width, height, subject, look, role);
  }
  disk::write_text(folder / "maps.svg", sheet.str());
  const std::string input = survey.shown.empty() ? "the input" : fmt::format("the input ({})", survey.shown);
  std::string caption = panels == 3 ? fmt::format("From left to right {}, its label, what the network predicts.", input)
                                    : fmt::format("On the left {}, on the right what the network predicts.", input);
  if (ranked)
    caption += fmt::format(
        " Best, typical and worst of {} test samples by mean intersection over union (IoU) of the "
        "classes but '{}'.",
        with_commas(survey.scored), subject.class_name(0));
  return {{"", "Input, label and prediction", caption, "maps.svg"}};
}

}  // namespace

extern const PictureKind maps{"maps", "labels and predictions over their input", fits_maps, draw_maps};

}  // namespace isobar::pictures
