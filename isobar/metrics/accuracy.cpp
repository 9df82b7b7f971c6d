// accuracy: the fraction of positions whose class is predicted correctly.
#include "isobar/metrics/class_targets.hpp"
#include "isobar/metrics/metric.hpp"

namespace isobar::metrics {
namespace {

class Accuracy final : public Metric {
 public:
  void reset(const Shape& prediction, const Shape& target) override {
    targets_ = ClassTargets("accuracy", prediction, target);
    right_ = all_ = 0;
  }
  void add(std::span<const float> prediction, std::span<const float> target) override {
    targets_.each(prediction, target, [&](std::span<const float> logits, std::size_t truth) {
      right_ += predicted_class(logits) == truth;
      ++all_;
    });
  }
  std::vector<double> state() const override { return {static_cast<double>(right_), static_cast<double>(all_)}; }
  void merge(std::span<const double> state) override { add_state(state, right_, all_); }
  std::map<std::string, double> values(std::span<const std::string>) const override {
    return {{"accuracy", all_ ? static_cast<double>(right_) / static_cast<double>(all_) : 0.0}};
  }

 private:
  ClassTargets targets_;
  std::int64_t right_ = 0, all_ = 0;
};

}  // namespace

extern const Row<Metric> accuracy{"accuracy", "fraction of the classes that are right", make_member<Accuracy>};

}  // namespace isobar::metrics
