// r2: coefficient of determination of every column, 1 - sum (t - p)^2 / sum (t - mean t)^2: 1 is perfect, 0 is as good
// as always predicting the mean of the test targets.
#include "isobar/base/error.hpp"
#include "isobar/metrics/metric.hpp"

namespace isobar::metrics {
namespace {

class R2 final : public Metric {
 public:
  void reset(const Shape& prediction, const Shape& target) override {
    if (prediction.count() != target.count())
      fail_usage("metric 'r2': predictions are {}, targets {}; needed: as many numbers", prediction.str(),
                 target.str());
    columns_.assign(static_cast<std::size_t>(target.count()), {});
    rows_ = 0;
  }

  void add(std::span<const float> prediction, std::span<const float> target) override {
    expects(prediction.size() == target.size(), "as many targets as predictions");
    rows_ += static_cast<std::int64_t>(target.size() / columns_.size());
    for (std::size_t i = 0; i < target.size(); ++i) {
      Column& c = columns_[i % columns_.size()];
      const double t = double{target[i]}, error = double{prediction[i]} - t;
      c.sum += t;
      c.squares += t * t;
      c.errors += error * error;
    }
  }

  std::vector<double> state() const override {
    std::vector<double> state{static_cast<double>(rows_)};
    for (const Column& c : columns_) state.insert(state.end(), {c.sum, c.squares, c.errors});
    return state;
  }

  void merge(std::span<const double> state) override {
    expects(state.size() == 1 + 3 * columns_.size(), "the state of as many columns");
    rows_ += static_cast<std::int64_t>(state[0]);
    for (std::size_t i = 0; i < columns_.size(); ++i)
      add_state(state.subspan(1 + 3 * i, 3), columns_[i].sum, columns_[i].squares, columns_[i].errors);
  }

  std::map<std::string, double> values(std::span<const std::string> names) const override {
    std::map<std::string, double> result;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Column& c = columns_[i];
      const double spread = rows_ ? c.squares - c.sum * c.sum / static_cast<double>(rows_) : 0.0;
      result["r2." + column_name(names, i)] = spread > 0 ? 1 - c.errors / spread : 0.0;
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

extern const Row<Metric> r2{"r2", "coefficient of determination of each target", make_member<R2>};

}  // namespace isobar::metrics
