// mae: mean absolute error over all numbers of all samples.
#include <cmath>

#include "isobar/base/error.hpp"
#include "isobar/metrics/metric.hpp"

namespace isobar::metrics {
namespace {

class Mae final : public Metric {
 public:
  void reset(const Shape& prediction, const Shape& target) override {
    if (prediction.count() != target.count())
      fail_usage("metric 'mae': predictions are {}, targets {}; needed: as many numbers", prediction.str(),
                 target.str());
    sum_ = 0, count_ = 0;
  }
  void add(std::span<const float> prediction, std::span<const float> target) override {
    expects(prediction.size() == target.size(), "as many targets as predictions");
    for (std::size_t i = 0; i < prediction.size(); ++i) sum_ += std::abs(double{prediction[i]} - double{target[i]});
    count_ += static_cast<std::int64_t>(prediction.size());
  }
  std::vector<double> state() const override { return {sum_, static_cast<double>(count_)}; }
  void merge(std::span<const double> state) override { add_state(state, sum_, count_); }
  std::map<std::string, double> values(std::span<const std::string>) const override {
    return {{"mae", count_ ? sum_ / static_cast<double>(count_) : 0.0}};
  }

 private:
  double sum_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace

extern const Row<Metric> mae{"mae", "mean absolute error", make_member<Mae>};

}  // namespace isobar::metrics
