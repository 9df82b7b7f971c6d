#include "isobar/report/series.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "isobar/base/error.hpp"

namespace isobar::report {

std::vector<Series> series_of(const train::End& end) {
  if (end.predictions.empty()) return {};
  const auto width = static_cast<std::size_t>(end.target_shape.count());
  expects(width > 0 && end.predictions.size() % width == 0, "whole rows of predictions");
  expects(end.predictions.size() == end.targets.size(), "as many targets as predictions");
  std::vector<Series> all(width);
  for (std::size_t c = 0; c < width; ++c) {
    all[c].name = c < end.target_names.size() ? end.target_names[c] : fmt::format("y{}", c);
    for (std::size_t i = c; i < end.targets.size(); i += width) {
      all[c].truth.push_back(end.targets[i]);
      all[c].predicted.push_back(end.predictions[i]);
    }
  }
  return all;
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

}  // namespace isobar::report
