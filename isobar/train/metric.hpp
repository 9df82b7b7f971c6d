// Metric: a number that says how good predictions are, gathered batch by batch over a whole test set.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isobar/base/row.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::train {

class Metric {
 public:
  virtual ~Metric() = default;
  /// Begins anew, for samples whose prediction and target have these shapes; shapes that do not fit are an Error.
  virtual void reset(const Shape& prediction, const Shape& target) = 0;
  /// Takes the predictions and targets of some samples, row by row in the shapes of reset().
  virtual void add(std::span<const float> prediction, std::span<const float> target) = 0;
  /// Results by name since reset(); `columns` names the numbers or classes of a prediction and may be empty.
  virtual std::map<std::string, double> values(std::span<const std::string> columns) const = 0;
};

Table<Row<Metric>> metrics();

/// The metrics that suit a loss when a recipe names none.
std::vector<std::string> default_metrics(const Spec& loss);

/// The name of column i, or its number.
inline std::string column_name(std::span<const std::string> columns, std::size_t i) {
  return i < columns.size() ? columns[i] : std::to_string(i);
}

}  // namespace isobar::train
