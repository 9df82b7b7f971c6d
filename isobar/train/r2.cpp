// r2: coefficient of determination of every column, 1 - sum (t - p)^2 / sum (t - mean t)^2: 1 is perfect, 0 is as good
// as always predicting the mean of the test targets.
#include "isobar/base/error.hpp"
#include "isobar/train/metric.hpp"

namespace isobar::train {
namespace {

class R2 final : public Metric {
 public:
  void reset() override { columns_.clear(), rows_ = 0; }

  void add(std::span<const float> prediction, std::span<const float> target, std::int64_t width) override {
    expects(prediction.size() == target.size(), "as many targets as predictions");
    columns_.resize(static_cast<std::size_t>(width));
    rows_ += static_cast<std::int64_t>(target.size()) / width;
    for (std::size_t i = 0; i < target.size(); ++i) {
      Column& c = columns_[i % static_cast<std::size_t>(width)];
      const double t = double{target[i]}, error = double{prediction[i]} - t;
      c.sum += t;
      c.squares += t * t;
      c.errors += error * error;
    }
  }

  std::map<std::string, double> values(std::span<const std::string> names) const override {
    std::map<std::string, double> result;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Column& c = columns_[i];
      const double spread = c.squares - c.sum * c.sum / static_cast<double>(rows_);
      result["r2." + (i < names.size() ? names[i] : std::to_string(i))] = spread > 0 ? 1 - c.errors / spread : 0.0;
    }
    return result;
  }

 private:
  struct Column {
    double sum = 0, squares = 0, errors = 0;
  };
  std::vector<Column> columns_;
  std::int64_t rows_ = 0;
};

}  // namespace

extern const Row<Metric> r2;
const Row<Metric> r2{"r2", "coefficient of determination of each target",
                     [](Args&) -> std::unique_ptr<Metric> { return std::make_unique<R2>(); }};

}  // namespace isobar::train
