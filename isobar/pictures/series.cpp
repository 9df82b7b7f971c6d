#include "isobar/pictures/series.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "isobar/base/error.hpp"

namespace isobar::pictures {

std::vector<Series> series_of(std::span<const float> predictions, std::span<const float> targets, std::int64_t width,
                              std::span<const std::string> names) {
  if (predictions.empty()) return {};
  const std::size_t columns = width;
  expects(width > 0 && predictions.size() % columns == 0, "whole rows of predictions");
  expects(predictions.size() == targets.size(), "as many targets as predictions");
  std::vector<Series> all(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    all[c].name = c < names.size() ? names[c] : fmt::format("y{}", c);
    for (std::size_t i = c; i < targets.size(); i += columns) {
      all[c].truth.push_back(targets[i]);
      all[c].predicted.push_back(predictions[i]);
    }
  }
  return all;
}

std::vector<Series> series_of(const train::End& end) {
  if (end.predictions.size() != end.targets.size()) return {};
  return series_of(end.predictions, end.targets, end.target_shape.count(), end.target_names);
}

double r2(const Series& series) {
  const auto count = static_cast<double>(series.truth.size());
  const double mean = std::accumulate(series.truth.begin(), series.truth.end(), 0.0) / count;
  double errors = 0, spread = 0;
  for (std::size_t i = 0; i < series.truth.size(); ++i) {
    errors += std::pow(series.truth[i] - series.predicted[i], 2);
    spread += std::pow(series.truth[i] - mean, 2);
  }
  return spread > 0 ? 1 - errors / spread : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace isobar::pictures
