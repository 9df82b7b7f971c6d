// confusion: how often each class was mistaken for each other. Up to twenty classes make a matrix, with a row for each
// true class, its counts and their share of the row; for more classes the most confused pairs are listed.
#include <algorithm>
#include <cmath>

#include "isobar/base/text.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/metrics/confusion.hpp"
#include "isobar/pictures/subject.hpp"
#include "isobar/pictures/svg_sheet.hpp"

namespace isobar::pictures {
namespace {

constexpr std::size_t most_cells = 20, most_pairs = 20;
constexpr double confusion_margin = 16;
constexpr Colour no_colour{255, 255, 255}, right_colour{0, 114, 178}, wrong_colour{213, 94, 0};
constexpr const char* confusion_quiet = "#475569";

metrics::ConfusionMatrix matrix_of(const Subject& subject) {
  metrics::ConfusionMatrix matrix(subject.classes());
  for (std::int64_t row = 0; row < subject.rows(); ++row) {
    const std::vector<std::uint16_t> predicted = largest(subject.prediction(row), subject.classes());
    const std::span<const float> truth = subject.target(row);
    for (std::size_t i = 0; i < truth.size(); ++i)
      if (truth[i] >= 0 && truth[i] < static_cast<float>(subject.classes()))
        matrix.count(static_cast<std::size_t>(truth[i]), predicted[i]);
  }
  return matrix;
}

std::int64_t row_sum(const metrics::ConfusionMatrix& matrix, std::size_t truth) {
  std::int64_t sum = 0;
  for (std::size_t p = 0; p < matrix.classes(); ++p) sum += matrix.at(truth, p);
  return sum;
}

std::string short_count(std::int64_t count) {
  if (count < 100'000) return with_commas(count);
  return count < 10'000'000 ? fmt::format("{:.0f}k", static_cast<double>(count) / 1e3)
                            : fmt::format("{:.0f}M", static_cast<double>(count) / 1e6);
}

std::string matrix_svg(const Subject& subject, const metrics::ConfusionMatrix& matrix) {
  const std::size_t classes = matrix.classes();
  const double cell = std::clamp(760.0 / static_cast<double>(classes), 46.0, 96.0), height = std::min(cell, 56.0);
  double names = 40;
  for (std::size_t c = 0; c < classes; ++c)
    names = std::max(names, text_width(shortened(subject.class_name(c), 22), 13));
  const bool turned = names > cell - 6;
  const double left = confusion_margin + 22 + names + 10,
               top = confusion_margin + 24 + (turned ? 0.72 * names + 12 : 18);
  const auto edge = static_cast<double>(classes);
  SvgSheet sheet(left + edge * cell + 92 + (turned ? 0.6 * names : 0), top + edge * height + confusion_margin,
                 "Confusion matrix");
  sheet.text(left + edge * cell / 2, confusion_margin + 10, "predicted",
             {.size = 14, .colour = confusion_quiet, .anchor = "middle"});
  sheet.text(confusion_margin + 8, top + edge * height / 2, "true",
             {.size = 14, .colour = confusion_quiet, .anchor = "middle", .turned = -90});
  sheet.text(left + edge * cell + 80, top - 8, subject.task() == Task::maps ? "places" : "samples",
             {.size = 12, .colour = confusion_quiet, .anchor = "end"});
  const bool small = cell < 54;
  for (std::size_t t = 0; t < classes; ++t) {
    const std::string name = shortened(subject.class_name(t), 22);
    const double y = top + height * static_cast<double>(t), at = left + cell * static_cast<double>(t);
    sheet.text(left - 8, y + height / 2 + 5, name, {.anchor = "end"});
    if (turned) sheet.text(at + cell / 2, top - 8, name, {.turned = -45});
    else sheet.text(at + cell / 2, top - 8, name, {.anchor = "middle"});
    const std::int64_t all = row_sum(matrix, t);
    sheet.text(left + edge * cell + 80, y + height / 2 + 5, short_count(all),
               {.colour = confusion_quiet, .anchor = "end"});
    for (std::size_t p = 0; p < classes; ++p) {
      const double x = left + cell * static_cast<double>(p);
      const double share = all > 0 ? static_cast<double>(matrix.at(t, p)) / all : 0;
      // A square root makes a few mistakes visible beside many hits.
      const Colour ground = t == p ? mixed(no_colour, right_colour, static_cast<float>(0.9 * std::sqrt(share)))
                                   : mixed(no_colour, wrong_colour, static_cast<float>(0.9 * std::pow(share, 0.4)));
      sheet.rectangle(x, y, cell, height, hex(ground), "#e2e8f0");
      if (matrix.at(t, p) == 0) continue;
      const std::string_view ink = share > 0.35 ? "#ffffff" : "#1e293b";
      sheet.text(x + cell / 2, y + height / 2 - 2, short_count(matrix.at(t, p)),
                 {.size = small ? 11 : 13, .colour = ink, .anchor = "middle", .bold = t == p});
      const double percent = 100 * share;
      sheet.text(x + cell / 2, y + height / 2 + 13, percent < 0.1 ? "<0.1 %" : fmt::format("{:.1f} %", percent),
                 {.size = small ? 10 : 11, .colour = ink, .anchor = "middle"});
    }
  }
  return sheet.str();
}

struct Pair {
  std::size_t truth, predicted;
  std::int64_t count;
};

std::vector<Pair> confused_pairs(const metrics::ConfusionMatrix& matrix) {
  std::vector<Pair> pairs;
  for (std::size_t t = 0; t < matrix.classes(); ++t)
    for (std::size_t p = 0; p < matrix.classes(); ++p)
      if (t != p && matrix.at(t, p) > 0) pairs.push_back({t, p, matrix.at(t, p)});
  std::ranges::stable_sort(pairs, std::greater(), &Pair::count);
  if (pairs.size() > most_pairs) pairs.resize(most_pairs);
  return pairs;
}

std::string pairs_svg(const Subject& subject, const metrics::ConfusionMatrix& matrix, std::span<const Pair> pairs) {
  constexpr double line = 26, names = 380, bar = 420;
  SvgSheet sheet(1000, 2 * confusion_margin + 30 + line * static_cast<double>(pairs.size()), "Most confused classes");
  sheet.text(confusion_margin, confusion_margin + 14, "true \u2192 predicted", {.size = 14, .colour = confusion_quiet});
  sheet.text(confusion_margin + names, confusion_margin + 14, "share of the true class, samples",
             {.size = 14, .colour = confusion_quiet});
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double y = confusion_margin + 30 + line * static_cast<double>(i);
    const auto name = [&](std::size_t c) { return shortened(subject.class_name(c), 26); };
    const double share = static_cast<double>(pairs[i].count) / row_sum(matrix, pairs[i].truth);
    sheet.text(confusion_margin, y + 17, name(pairs[i].truth) + " \u2192 " + name(pairs[i].predicted));
    sheet.rectangle(confusion_margin + names, y + 5, std::max(1.0, bar * share), line - 10, hex(wrong_colour));
    sheet.text(confusion_margin + names + bar * share + 8, y + 17,
               fmt::format("{:.1f} %, {}", 100 * share, with_commas(pairs[i].count)), {.colour = confusion_quiet});
  }
  return sheet.str();
}

bool fits_confusion(const Subject& subject) {
  return (subject.task() == Task::classes || subject.task() == Task::maps) && subject.rows() > 0 &&
         subject.classes() <= metrics::max_confusion_classes;
}

std::vector<Picture> draw_confusion(Subject& subject, const std::filesystem::path& folder) {
  const metrics::ConfusionMatrix matrix = matrix_of(subject);
  std::int64_t right = 0, all = 0;
  for (std::size_t c = 0; c < matrix.classes(); ++c) right += matrix.at(c, c), all += row_sum(matrix, c);
  if (all == 0) return {};
  const std::string what = subject.task() == Task::maps ? "places of test samples" : "test samples";
  const std::string score = fmt::format("{} of {} {} are right ({:.2f} %).", with_commas(right), with_commas(all), what,
                                        100 * static_cast<double>(right) / all);
  if (matrix.classes() <= most_cells) {
    disk::write_text(folder / "confusion.svg", matrix_svg(subject, matrix));
    return {
        {"", "Confusion matrix",
         score + " Rows are true classes, columns predicted ones; shares are of the row. Blue is right, orange wrong.",
         "confusion.svg"}};
  }
  const std::vector<Pair> pairs = confused_pairs(matrix);
  if (pairs.empty()) return {};
  disk::write_text(folder / "confusion.svg", pairs_svg(subject, matrix, pairs));
  return {{"", "Most confused classes",
           fmt::format("{} The {} most confused pairs of {} classes.", score, pairs.size(), matrix.classes()),
           "confusion.svg"}};
}

}  // namespace

extern const PictureKind confusion{"confusion", "which classes are mistaken for which", fits_confusion, draw_confusion};

}  // namespace isobar::pictures
