// confusion: how many positions of class t were predicted as class p, under the name confusion.t.p.
#include "isobar/metrics/confusion.hpp"

#include "isobar/metrics/metric.hpp"

namespace isobar::metrics {
namespace {

class Confusion final : public Metric {
 public:
  void reset(const Shape& prediction, const Shape& target) override {
    targets_ = ClassTargets("confusion", prediction, target);
    matrix_ = confusion_of("confusion", targets_);
  }
  void add(std::span<const float> prediction, std::span<const float> target) override {
    targets_.each(prediction, target, [&](std::span<const float> logits, std::size_t truth) {
      matrix_.count(truth, predicted_class(logits));
    });
  }
  std::vector<double> state() const override { return matrix_.state(); }
  void merge(std::span<const double> state) override { matrix_.merge(state); }
  std::map<std::string, double> values(std::span<const std::string> columns) const override {
    std::map<std::string, double> result;
    for (std::size_t t = 0; t < matrix_.classes(); ++t)
      for (std::size_t p = 0; p < matrix_.classes(); ++p)
        result[fmt::format("confusion.{}.{}", column_name(columns, t), column_name(columns, p))] =
            static_cast<double>(matrix_.at(t, p));
    return result;
  }

 private:
  ClassTargets targets_;
  ConfusionMatrix matrix_;
};

}  // namespace

extern const Row<Metric> confusion{
    "confusion", "how often each class was taken for each other, as confusion.true.predicted", make_member<Confusion>};

}  // namespace isobar::metrics
