// iou(kind=stream): intersection over union of classes, TP / (TP + FP + FN), and its mean, in two definitions.
//   stream: counts are summed over the whole test set first; a class that never occurs is left out of the mean.
//   sample: the mean over classes of each sample, averaged over samples; a class absent from both prediction and
//           target of a sample counts as 1 there (MLPerf-HPC DeepCAM).
#include "isobar/metrics/confusion.hpp"
#include "isobar/metrics/metric.hpp"

namespace isobar::metrics {
namespace {

class Iou final : public Metric {
 public:
  explicit Iou(bool by_sample) : by_sample_(by_sample) {}

  void reset(const Shape& prediction, const Shape& target) override {
    targets_ = ClassTargets("iou", prediction, target);
    matrix_ = confusion_of("iou", targets_);
    sums_.assign(matrix_.classes(), 0.0);
    samples_ = 0;
  }

  void add(std::span<const float> prediction, std::span<const float> target) override {
    if (!by_sample_) return count(prediction, target);
    const auto positions = static_cast<std::size_t>(targets_.positions()), classes = matrix_.classes();
    for (std::size_t first = 0; first < target.size(); first += positions) {
      matrix_ = ConfusionMatrix(targets_.classes());
      count(prediction.subspan(first * classes, positions * classes), target.subspan(first, positions));
      for (std::size_t c = 0; c < classes; ++c) sums_[c] += matrix_.either(c) > 0 ? matrix_.overlap(c) : 1.0;
      ++samples_;
    }
  }

  std::vector<double> state() const override {
    if (!by_sample_) return matrix_.state();
    std::vector<double> state{static_cast<double>(samples_)};
    state.insert(state.end(), sums_.begin(), sums_.end());
    return state;
  }

  void merge(std::span<const double> state) override {
    if (!by_sample_) return matrix_.merge(state);
    expects(state.size() == 1 + sums_.size(), "the sums of as many classes");
    samples_ += static_cast<std::int64_t>(state[0]);
    for (std::size_t c = 0; c < sums_.size(); ++c) sums_[c] += state[1 + c];
  }

  std::map<std::string, double> values(std::span<const std::string> columns) const override {
    std::map<std::string, double> result;
    double sum = 0;
    int present = 0;
    for (std::size_t c = 0; c < matrix_.classes(); ++c) {
      if (by_sample_ ? samples_ == 0 : matrix_.either(c) == 0) continue;
      const double value = by_sample_ ? sums_[c] / static_cast<double>(samples_) : matrix_.overlap(c);
      result["iou." + column_name(columns, c)] = value;
      sum += value;
      ++present;
    }
    result["iou"] = present ? sum / present : 0.0;
    return result;
  }

 private:
  void count(std::span<const float> prediction, std::span<const float> target) {
    targets_.each(prediction, target, [&](std::span<const float> logits, std::size_t truth) {
      matrix_.count(truth, predicted_class(logits));
    });
  }

  bool by_sample_;
  ClassTargets targets_;
  ConfusionMatrix matrix_;    // of the whole set, or of the sample last seen
  std::vector<double> sums_;  // by class, over samples
  std::int64_t samples_ = 0;
};

}  // namespace

extern const Row<Metric> iou{
    "iou", "intersection over union of each class and their mean, over the set or by sample",
    [](Args& args) -> std::unique_ptr<Metric> {
      return std::make_unique<Iou>(args.one_of("kind", "stream", {"stream", "sample"}) == "sample");
    }};

}  // namespace isobar::metrics
