// Series: true and predicted values of one target over the whole test set, for tables and pictures.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "isobar/train/events.hpp"

namespace isobar::pictures {

struct Series {
  std::string name;
  std::vector<double> truth{}, predicted{};
};

/// One series for each of `width` columns; columns without a name are called y0, y1, ... Empty without predictions.
std::vector<Series> series_of(std::span<const float> predictions, std::span<const float> targets, std::int64_t width,
                              std::span<const std::string> names);

/// The series of a run's test set; empty when it predicts classes, which cannot be compared as numbers.
std::vector<Series> series_of(const train::End& end);

/// 1 - sum (t - p)^2 / sum (t - mean t)^2; NaN when all targets are equal or there are none.
double r2(const Series& series);

}  // namespace isobar::pictures
