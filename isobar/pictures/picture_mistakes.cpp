// mistakes: the samples on which a classifier is most wrong, that is, the true class got the least probability, with
// the input, the true class, the predicted class and its probability.
#include <algorithm>
#include <cmath>

#include "isobar/base/text.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/pictures/sample_picture.hpp"
#include "isobar/pictures/subject.hpp"
#include "isobar/pictures/svg_sheet.hpp"

namespace isobar::pictures {
namespace {

constexpr std::size_t most_mistakes_shown = 12, across = 6;
constexpr double mistake_panel = 172, mistake_gap = 20, mistake_margin = 16, lines = 62;
constexpr std::int64_t most_mistake_edge = 344;
constexpr const char *wrong_ink = "#b45309", *mistake_quiet = "#475569";

struct Judged {
  std::int64_t sample = 0;
  std::size_t truth = 0, predicted = 0;
  double for_truth = 0, for_predicted = 0;  // probabilities
};

std::optional<Judged> judge(std::int64_t sample, std::span<const float> prediction, float truth) {
  if (truth < 0 || truth >= static_cast<float>(prediction.size())) return std::nullopt;
  const std::vector<double> q = probabilities(prediction);
  Judged judged{sample, static_cast<std::size_t>(truth), 0, 0, 0};
  judged.predicted = std::ranges::max_element(q) - q.begin();
  judged.for_truth = q[judged.truth], judged.for_predicted = q[judged.predicted];
  return judged;
}

// The worst mistakes first; samples with a probability of NaN are skipped.
std::vector<Judged> judged_samples(Subject& subject) {
  std::vector<Judged> all;
  const auto add = [&](std::int64_t sample, std::span<const float> prediction, float truth) {
    if (const auto judged = judge(sample, prediction, truth); judged && std::isfinite(judged->for_truth))
      all.push_back(*judged);
  };
  if (subject.all_kept())
    for (std::int64_t row = 0; row < subject.rows(); ++row) add(row, subject.prediction(row), subject.target(row)[0]);
  else
    for (const std::int64_t sample : subject.choice(subject.request().most_passes, false)) {
      const std::optional<train::View> view = subject.view(sample);
      if (!view) break;
      const auto y = view->fields.find("y");
      if (y != view->fields.end() && !y->second.numbers.empty())
        add(sample, view->prediction.numbers, y->second.numbers[0]);
    }
  std::ranges::stable_sort(all, {}, &Judged::for_truth);
  return all;
}

std::string percent(double part) {
  const double value = 100 * part;
  return value < 0.1 ? "<0.1 %" : value > 99.9 && value < 100 ? ">99.9 %" : fmt::format("{:.1f} %", value);
}

std::vector<float> input_of(const Subject& subject, std::int64_t sample) {
  std::vector<std::vector<float>> memory;
  const std::vector<datasets::Field> fields = subject.dataset()->fields();
  for (const datasets::Field& field : fields) memory.emplace_back(field.shape.count());
  subject.dataset()->read(sample, std::vector<std::span<float>>(memory.begin(), memory.end()));
  const auto found = std::ranges::find(fields, subject.input_name(), &datasets::Field::name);
  return memory[found - fields.begin()];
}

bool fits_mistakes(const Subject& subject) {
  const Shape& x = subject.input_shape();
  return subject.task() == Task::classes && subject.samples() > 0 && x.rank() >= 2 && x[0] >= 4 && x[1] >= 4;
}

std::vector<Picture> draw_mistakes(Subject& subject, const std::filesystem::path& folder) {
  std::vector<Judged> all = judged_samples(subject);
  if (all.empty()) return {};
  const auto wrong = std::ranges::count_if(all, [](const Judged& j) { return j.truth != j.predicted; });
  const std::size_t judged = all.size();
  all.resize(
      std::min({most_mistakes_shown, judged, wrong > 0 ? static_cast<std::size_t>(wrong) : most_mistakes_shown}));

  const SamplePicture picture(subject.input_shape(), subject.dataset()->channels(), most_mistake_edge);
  const double wide = static_cast<double>(picture.width()), high = static_cast<double>(picture.height());
  const double scale = mistake_panel / std::max(wide, high);
  const std::size_t down = (all.size() + across - 1) / across;
  const double row_height = high * scale + lines + mistake_gap;
  SvgSheet sheet(2 * mistake_margin + across * mistake_panel + (across - 1) * mistake_gap,
                 2 * mistake_margin + static_cast<double>(down) * row_height, "The worst mistakes");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Judged& one = all[i];
    const double x = mistake_margin + static_cast<double>(i % across) * (mistake_panel + mistake_gap);
    const double y = mistake_margin + static_cast<double>(i / across) * row_height;
    sheet.image(x + (mistake_panel - wide * scale) / 2, y, wide * scale, high * scale,
                picture.colours(input_of(subject, one.sample)));
    const double below = y + high * scale;
    const auto name = [&](std::size_t c) { return shortened(subject.class_name(c), 22); };
    const bool is_wrong = one.truth != one.predicted;
    sheet.text(x, below + 18, fmt::format("{} ({})", name(one.predicted), percent(one.for_predicted)),
               {.size = 14, .colour = is_wrong ? wrong_ink : "#1e293b", .bold = true});
    sheet.text(x, below + 36, fmt::format("true: {} ({})", name(one.truth), percent(one.for_truth)), {.size = 13});
    sheet.text(x, below + 53, fmt::format("sample {}", one.sample), {.size = 11, .colour = mistake_quiet});
  }
  disk::write_text(folder / "mistakes.svg", sheet.str());
  const std::string of = fmt::format("{} test samples", with_commas(judged));
  const std::string shown = picture.shown().empty() ? "" : fmt::format(" Shown is {}.", picture.shown());
  if (wrong == 0)
    return {{"", "The least certain samples",
             fmt::format("All of {} are right; these were closest to wrong.{}", of, shown), "mistakes.svg"}};
  return {
      {"", "The worst mistakes",
       fmt::format("{} of {} are wrong. These gave their true class the least probability; in bold what the network "
                   "takes them for, and how sure it is.{}",
                   with_commas(wrong), of, shown),
       "mistakes.svg"}};
}

}  // namespace

extern const PictureKind mistakes{"mistakes", "samples that are classified wrongly", fits_mistakes, draw_mistakes};

}  // namespace isobar::pictures
