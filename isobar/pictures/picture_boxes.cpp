// boxes: true and predicted boxes over their input, for samples that contain objects.
#include <algorithm>

#include "isobar/base/text.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/pictures/grid_boxes.hpp"
#include "isobar/pictures/sample_picture.hpp"
#include "isobar/pictures/subject.hpp"
#include "isobar/pictures/svg_sheet.hpp"

namespace isobar::pictures {
namespace {

constexpr std::size_t most_boxes_shown = 4, most_boxes = 24, fallback_boxes = 3;
constexpr std::int64_t most_box_looks = 8, most_box_edge = 768;
constexpr double box_panel_width = 584, box_gap = 16, box_margin = 12, box_heading = 28, box_legend_height = 54,
                 found_overlap = 0.3;
constexpr const char* true_ink = "#000000";

struct BoxLook {
  std::int64_t sample = 0;
  files::Image ground{};
  std::vector<GridBox> truth{}, predicted{};
  bool sure = true;  // some prediction has a confidence of at least 50 %
};

CellNumbers numbers_of(const Spec& loss) {
  const Value* variant = loss.find("variant");
  return variant && variant->str() == "b" ? CellNumbers::logits : CellNumbers::probabilities;
}

BoxLook box_drawn(const Subject& subject, const SamplePicture& picture, const train::View& view) {
  const Shape &x = subject.input_shape(), &cells = subject.prediction_shape();
  BoxLook look;
  look.sample = view.sample;
  look.ground = picture.greys(view.fields.at(subject.input_name()).numbers);
  const CellNumbers numbers = numbers_of(subject.request().loss);
  look.predicted = boxes_of(view.prediction.numbers, cells, x[0], x[1], numbers);
  if (look.predicted.empty()) {
    look.sure = false;
    look.predicted = boxes_of(view.prediction.numbers, cells, x[0], x[1], numbers, 0);
    look.predicted.resize(std::min(look.predicted.size(), fallback_boxes));
  }
  look.predicted.resize(std::min(look.predicted.size(), most_boxes));
  if (const auto y = view.fields.find("y"); y != view.fields.end() && y->second.shape == cells)
    look.truth = boxes_of(y->second.numbers, cells, x[0], x[1], CellNumbers::truth);
  if (picture.turned())
    for (std::vector<GridBox>* list : {&look.truth, &look.predicted})
      for (GridBox& box : *list) box.top = static_cast<double>(x[0]) - box.top - box.height;
  return look;
}

// Classes without names are not shown as bare numbers, because other numbers stand beside them.
std::string kind_name(const Subject& subject, std::int64_t kind) {
  const std::string name = subject.class_name(kind);
  return name == std::to_string(kind) ? "class " + name : shortened(name, 20);
}

std::size_t found_in(const BoxLook& look) {
  return std::ranges::count_if(look.truth, [&](const GridBox& t) {
    return std::ranges::any_of(look.predicted, [&](const GridBox& p) {
      return look.sure && p.kind == t.kind && overlap(t, p) >= found_overlap;
    });
  });
}

void draw_panel(SvgSheet& sheet, double left, double top, double height, const Subject& subject, const BoxLook& look) {
  sheet.text(left, top + 18, fmt::format("sample {}", look.sample), {.size = 15, .bold = true});
  std::string score = fmt::format("{} of {} found", found_in(look), look.truth.size());
  if (!look.sure) score += "; no prediction reaches 50 %";
  sheet.text(left + box_panel_width, top + 18, score, {.size = 13, .colour = "#475569", .anchor = "end"});
  top += box_heading;
  sheet.image(left, top, box_panel_width, height, look.ground);
  sheet.begin_clip(left, top, box_panel_width, height);
  const double scale = box_panel_width / static_cast<double>(subject.input_shape()[1]);
  const auto outline = [&](const GridBox& box, std::string_view ink, double line, std::string_view dashes) {
    sheet.rectangle(left + scale * box.left, top + scale * box.top, scale * box.width, scale * box.height, "none", ink,
                    line, dashes);
  };
  for (const GridBox& box : look.truth)
    outline(box, true_ink, 1.5, ""), outline(box, hex(class_colour(box.kind + 1)), 4, "");
  for (const GridBox& box : look.truth) outline(box, true_ink, 1.2, "");
  for (const GridBox& box : look.predicted) {
    const std::string ink = hex(class_colour(box.kind + 1));
    outline(box, "#ffffff", 4.5, "");
    outline(box, ink, 2.5, "7 4");
    const std::string label = fmt::format("{} {:.0f} %", kind_name(subject, box.kind), 100 * box.confidence);
    const double x = std::clamp(left + scale * box.left, left, left + box_panel_width - 40);
    const double y = std::clamp(top + scale * box.top, top + 14, top + height);
    sheet.rectangle(x, y - 14, text_width(label, 11) + 6, 14, "#ffffff");
    sheet.text(x + 3, y - 3, label, {.size = 11});
  }
  sheet.end_clip();
  sheet.rectangle(left, top, box_panel_width, height, "none", "#94a3b8");
}

bool fits_boxes(const Subject& subject) { return subject.task() == Task::boxes && subject.samples() > 0; }

std::vector<Picture> draw_boxes(Subject& subject, const std::filesystem::path& folder) {
  const SamplePicture picture(subject.input_shape(), subject.dataset()->channels(), most_box_edge);
  std::vector<BoxLook> looks;
  std::vector<std::int64_t> samples = subject.choice(most_box_looks, false);
  if (samples.size() > most_box_looks) {
    // Of kept predictions, an evenly spaced selection.
    const std::size_t step = samples.size() / most_box_looks;
    for (std::size_t i = 0; i < most_box_looks; ++i) samples[i] = samples[i * step];
    samples.resize(most_box_looks);
  }
  for (const std::int64_t sample : samples) {
    const std::optional<train::View> view = subject.view(sample);
    if (!view) break;
    looks.push_back(box_drawn(subject, picture, *view));
  }
  if (looks.empty()) return {};
  std::ranges::stable_sort(looks, std::greater(), [](const BoxLook& look) { return look.truth.size(); });
  looks.resize(std::min(looks.size(), most_boxes_shown));

  const double height = box_panel_width * static_cast<double>(picture.height()) / picture.width();
  const std::size_t across = std::min<std::size_t>(2, looks.size()), down = (looks.size() + across - 1) / across;
  SvgSheet sheet(2 * box_margin + static_cast<double>(across) * (box_panel_width + box_gap) - box_gap,
                 box_legend_height + static_cast<double>(down) * (box_heading + height + box_gap) + box_margin,
                 "Boxes");
  double x = box_margin;
  for (std::int64_t c = 0; c < std::min<std::int64_t>(subject.classes(), 7); ++c)
    x = sheet.legend(x, 20, class_colour(c + 1), kind_name(subject, c));
  sheet.rectangle(box_margin + 2, 31, 26, 13, "none", "#64748b", 4);
  sheet.rectangle(box_margin + 2, 31, 26, 13, "none", true_ink, 1.2);
  sheet.text(box_margin + 36, 42, "true");
  sheet.rectangle(box_margin + 92, 31, 26, 13, "none", "#64748b", 2.5, "7 4");
  sheet.text(box_margin + 126, 42, "predicted, with its confidence");
  for (std::size_t i = 0; i < looks.size(); ++i)
    draw_panel(sheet, box_margin + static_cast<double>(i % across) * (box_panel_width + box_gap),
               box_legend_height + static_cast<double>(i / across) * (box_heading + height + box_gap), height, subject,
               looks[i]);
  disk::write_text(folder / "boxes.svg", sheet.str());
  return {
      {"", "True and predicted boxes",
       fmt::format("The test samples with the most objects, of {} examined{}. A true box is found when a prediction of "
                   "its class of at least 50 % confidence overlaps it by {:.0f} % (intersection over union).",
                   samples.size(), picture.shown().empty() ? "" : fmt::format(", over {}", picture.shown()),
                   100 * found_overlap),
       "boxes.svg"}};
}

}  // namespace

extern const PictureKind boxes{"boxes", "true and predicted boxes", fits_boxes, draw_boxes};

}  // namespace isobar::pictures
