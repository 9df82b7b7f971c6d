// Metric: a number that says how good predictions are, gathered batch by batch over a whole test set.
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
  /// Begins anew, for samples whose prediction and target have these shapes; shapes that do not fit are an Error.
  virtual void reset(const Shape& prediction, const Shape& target) = 0;
  /// Takes the predictions and targets of some samples, row by row in the shapes of reset().
  virtual void add(std::span<const float> prediction, std::span<const float> target) = 0;
  /// All that was taken since reset(), as numbers that merge() of another metric of the same shapes understands.
  virtual std::vector<double> state() const = 0;
  /// Takes what another rank took: its state(). Counts stay exact below 2^53.
  virtual void merge(std::span<const double> state) = 0;
  /// Results by name since reset(); `columns` names the numbers or classes of a prediction and may be empty.
  virtual std::map<std::string, double> values(std::span<const std::string> columns) const = 0;
};

Table<Row<Metric>> metrics();

/// Adds a state to numbers of as many: what merge() comes to where all that is kept are sums.
template <class... T>
void add_state(std::span<const double> state, T&... sums) {
  expects(state.size() == sizeof...(T), "the state of a metric of the same kind");
  std::size_t i = 0;
  ((sums += static_cast<T>(state[i++])), ...);
}

/// The metrics that suit a loss when a recipe names none.
std::vector<std::string> default_metrics(const Spec& loss);

/// The name of column i, or its number.
inline std::string column_name(std::span<const std::string> columns, std::size_t i) {
  return i < columns.size() ? columns[i] : std::to_string(i);
}

}  // namespace isobar::metrics
