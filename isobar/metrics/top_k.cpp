// top_k(k=5): the fraction of positions whose class is among the k with the largest logits; of equal logits, the lower
// class number comes first. With k=1 it is the accuracy.
#include "isobar/metrics/class_targets.hpp"
#include "isobar/metrics/metric.hpp"

namespace isobar::metrics {
namespace {

class TopK final : public Metric {
 public:
  explicit TopK(std::int64_t k) : k_(k) {}

  void reset(const Shape& prediction, const Shape& target) override {
    targets_ = ClassTargets("top_k", prediction, target);
    right_ = all_ = 0;
  }
  void add(std::span<const float> prediction, std::span<const float> target) override {
    targets_.each(prediction, target, [&](std::span<const float> logits, std::size_t truth) {
      std::int64_t before = 0;
      for (std::size_t c = 0; c < logits.size(); ++c)
        before += logits[c] > logits[truth] || (c < truth && logits[c] == logits[truth]);
      right_ += before < k_;
      ++all_;
    });
  }
  std::vector<double> state() const override { return {static_cast<double>(right_), static_cast<double>(all_)}; }
  void merge(std::span<const double> state) override { add_state(state, right_, all_); }
  std::map<std::string, double> values(std::span<const std::string>) const override {
    return {{fmt::format("top_{}", k_), all_ ? static_cast<double>(right_) / static_cast<double>(all_) : 0.0}};
  }

 private:
  std::int64_t k_;
  ClassTargets targets_;
  std::int64_t right_ = 0, all_ = 0;
};

}  // namespace

extern const Row<Metric> top_k{"top_k", "fraction of the classes that are among the k best predictions",
                               [](Args& args) -> std::unique_ptr<Metric> {
                                 const std::int64_t k = args.integer("k", 5);
                                 args.require(k >= 1, "k must be at least 1");
                                 return std::make_unique<TopK>(k);
                               }};

}  // namespace isobar::metrics
