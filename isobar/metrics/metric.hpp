// Metric: a number that says how good predictions are, accumulated batch by batch over a whole test set.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isobar/base/error.hpp"
#include "isobar/base/row.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::metrics {

class Metric {
 public:
  virtual ~Metric() = default;
  /// Starts over, for samples whose prediction and target have these shapes; unsuitable shapes are an Error.
  virtual void reset(const Shape& prediction, const Shape& target) = 0;
  /// Adds the predictions and targets of some samples, row by row in the shapes given to reset().
  virtual void add(std::span<const float> prediction, std::span<const float> target) = 0;
  /// Everything added since reset(), as numbers for merge() of another metric of the same shapes.
  virtual std::vector<double> state() const = 0;
  /// Adds the state() of another rank. Counts stay exact below 2^53.
  virtual void merge(std::span<const double> state) = 0;
  /// Results by name since reset(); `columns` names the numbers or classes of a prediction and may be empty.
  virtual std::map<std::string, double> values(std::span<const std::string> columns) const = 0;
};

Table<Row<Metric>> metrics();

/// Adds a state to as many numbers: implements merge() for metrics that keep only sums.
template <class... T>
void add_state(std::span<const double> state, T&... sums) {
  expects(state.size() == sizeof...(T), "the state of a metric of the same kind");
  std::size_t i = 0;
  ((sums += static_cast<T>(state[i++])), ...);
}

/// The metrics that suit a loss, if a recipe names none.
std::vector<std::string> default_metrics(const Spec& loss);

/// The name of column i, or its number.
inline std::string column_name(std::span<const std::string> columns, std::size_t i) {
  return i < columns.size() ? columns[i] : std::to_string(i);
}

}  // namespace isobar::metrics
