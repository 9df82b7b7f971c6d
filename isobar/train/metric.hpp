// Metric: a number that says how good predictions are, gathered batch by batch over a whole test set.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isobar/base/row.hpp"

namespace isobar::train {

class Metric {
 public:
  virtual ~Metric() = default;
  virtual void reset() = 0;
  /// Takes the predictions and targets of some samples; `width` numbers each.
  virtual void add(std::span<const float> prediction, std::span<const float> target, std::int64_t width) = 0;
  /// Results by name since reset(); `columns` names the numbers of a prediction and may be empty.
  virtual std::map<std::string, double> values(std::span<const std::string> columns) const = 0;
};

Table<Row<Metric>> metrics();

}  // namespace isobar::train
