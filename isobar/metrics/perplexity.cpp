// perplexity: exp of the mean over positions of -log softmax(logits)[class]: the number of sides of a fair die that is
// as hard to guess.
#include "isobar/metrics/class_targets.hpp"
#include "isobar/metrics/metric.hpp"

namespace isobar::metrics {
namespace {

class Perplexity final : public Metric {
 public:
  void reset(const Shape& prediction, const Shape& target) override {
    targets_ = ClassTargets("perplexity", prediction, target);
    sum_ = 0;
    all_ = 0;
  }
  void add(std::span<const float> prediction, std::span<const float> target) override {
    targets_.each(prediction, target, [&](std::span<const float> logits, std::size_t truth) {
      const float largest = *std::max_element(logits.begin(), logits.end());
      double sum = 0;
      for (const float x : logits) sum += std::exp(double{x} - double{largest});
      sum_ += std::log(sum) + double{largest} - double{logits[truth]};
      ++all_;
    });
  }
  std::vector<double> state() const override { return {sum_, static_cast<double>(all_)}; }
  void merge(std::span<const double> state) override { add_state(state, sum_, all_); }
  std::map<std::string, double> values(std::span<const std::string>) const override {
    return {{"perplexity", all_ ? std::exp(sum_ / static_cast<double>(all_)) : 0.0}};
  }

 private:
  ClassTargets targets_;
  double sum_ = 0;
  std::int64_t all_ = 0;
};

}  // namespace

extern const Row<Metric> perplexity{"perplexity", "exp of the mean negative log-likelihood, from logits",
                                    make_member<Perplexity>};

}  // namespace isobar::metrics
