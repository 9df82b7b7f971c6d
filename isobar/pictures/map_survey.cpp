#include "isobar/pictures/map_survey.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "isobar/metrics/confusion.hpp"
#include "isobar/pictures/sample_time.hpp"

namespace isobar::pictures {
namespace {

constexpr std::int64_t most_survey_edge = 576, most_survey_looks = 16;

struct Score {
  std::vector<double> overlaps{};
  double mean = std::numeric_limits<double>::quiet_NaN();
};

Score score_of(std::span<const std::uint16_t> predicted, std::span<const float> truth, std::int64_t classes) {
  metrics::ConfusionMatrix matrix(classes);
  for (std::size_t i = 0; i < truth.size(); ++i)
    if (truth[i] >= 0 && truth[i] < static_cast<float>(classes))
      matrix.count(static_cast<std::size_t>(truth[i]), predicted[i]);
  Score score;
  double sum = 0;
  int occurring = 0;
  for (std::size_t c = 0; c < matrix.classes(); ++c) {
    const bool occurs = matrix.either(c) > 0;
    score.overlaps.push_back(occurs ? matrix.overlap(c) : std::numeric_limits<double>::quiet_NaN());
    if (occurs && c > 0) sum += matrix.overlap(c), ++occurring;
  }
  if (occurring > 0) score.mean = sum / occurring;
  return score;
}

// Indices of the best, the median and the worst score.
std::vector<std::size_t> extremes(const std::vector<double>& scores) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (std::isfinite(scores[i])) order.push_back(i);
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return scores[i]; });
  if (order.size() <= 3) return order;
  return {order.front(), order[order.size() / 2], order.back()};
}

MapLook drawn(const Subject& subject, const SamplePicture& picture, const train::View& view) {
  MapLook look;
  look.sample = view.sample;
  look.where = subject.dataset()->where(view.sample);
  const std::vector<std::uint16_t> predicted = largest(view.prediction.numbers, subject.classes());
  look.predicted = picture.classes(predicted);
  for (const auto& [name, values] : view.fields) {
    if (name == subject.input_name()) {
      look.colours = picture.colours(values.numbers);
      look.greys = picture.greys(values.numbers);
    } else if (name == "y" && values.numbers.size() == predicted.size()) {
      const Score score = score_of(predicted, values.numbers, subject.classes());
      look.overlaps = score.overlaps;
      look.score = score.mean;
      std::vector<std::uint16_t> truth;
      for (const float t : values.numbers) truth.push_back(static_cast<std::uint16_t>(std::clamp(t, 0.0f, 65535.0f)));
      look.truth = picture.classes(truth);
    }
  }
  return look;
}

// The best, typical and worst of the samples whose predictions were kept: scoring these is cheap.
std::vector<std::int64_t> kept_extremes(const Subject& subject) {
  std::vector<double> scores;
  for (std::int64_t i = 0; i < subject.samples(); ++i)
    scores.push_back(
        score_of(largest(subject.prediction(i), subject.classes()), subject.target(i), subject.classes()).mean);
  const std::vector<std::size_t> found = extremes(scores);
  return {found.begin(), found.end()};
}

}  // namespace

const MapSurvey& map_survey(Subject& subject) {
  if (subject.maps) return *subject.maps;
  auto survey = std::make_shared<MapSurvey>();
  const SamplePicture picture(subject.input_shape(), subject.dataset()->channels(), most_survey_edge);
  survey->shown = picture.shown();
  const std::int64_t consecutive = consecutive_samples(*subject.dataset(), most_survey_looks);
  std::vector<std::int64_t> samples, best_to_worst;
  if (subject.all_kept()) {
    best_to_worst = kept_extremes(subject);
    std::set<std::int64_t> chosen(best_to_worst.begin(), best_to_worst.end());
    for (std::int64_t i = 0; i < std::max<std::int64_t>(1, consecutive); ++i) chosen.insert(i);
    samples.assign(chosen.begin(), chosen.end());
  } else samples = subject.choice(most_survey_looks, consecutive > 0);
  std::vector<double> scores;
  for (const std::int64_t sample : samples) {
    const std::optional<train::View> view = subject.view(sample);
    if (!view) break;
    survey->looks.push_back(drawn(subject, picture, *view));
    scores.push_back(survey->looks.back().score);
    if (sample < consecutive && sample == std::ssize(survey->looks) - 1) ++survey->consecutive;
  }
  if (!subject.all_kept()) survey->ranked = extremes(scores);
  for (const std::int64_t sample : best_to_worst)
    survey->ranked.push_back(std::ranges::find(survey->looks, sample, &MapLook::sample) - survey->looks.begin());
  survey->scored = subject.all_kept() ? subject.samples() : std::ssize(survey->looks);
  subject.maps = survey;
  return *subject.maps;
}

}  // namespace isobar::pictures
