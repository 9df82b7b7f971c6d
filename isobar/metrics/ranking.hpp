// Ranking: metrics of how well scores rank true cases above false ones: average_precision, roc_auc. Takes either two
// logits and a class number 0 or 1, scored by their difference, or any number of columns with a target 0 or 1 in each;
// a negative target does not count. All scores are kept until values(): 8 bytes each.
#pragma once

#include <string>

#include "isobar/metrics/metric.hpp"

namespace isobar::metrics {

/// One score and whether its case is true.
struct Ranked {
  float score = 0;
  bool truth = false;
};

class Ranking : public Metric {
 public:
  void reset(const Shape& prediction, const Shape& target) override;
  void add(std::span<const float> prediction, std::span<const float> target) override;
  std::vector<double> state() const override;
  void merge(std::span<const double> state) override;
  /// The measure of every column as name.column, if there are 2 to 64, and their mean as name.
  std::map<std::string, double> values(std::span<const std::string> columns) const override;

 protected:
  explicit Ranking(std::string name) : name_(std::move(name)) {}
  /// The measure of one column, with scores in descending order; `positives` of them are true, and at least one is not.
  virtual double measure(std::span<const Ranked> falling, std::int64_t positives) const = 0;

 private:
  std::string name_;
  bool two_logits_ = false;
  std::vector<std::vector<Ranked>> columns_;
};

}  // namespace isobar::metrics
