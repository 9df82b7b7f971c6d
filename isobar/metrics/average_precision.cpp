// average_precision: the area under precision over recall as a sum of steps, sum over thresholds of
// (recall_k - recall_{k-1}) * precision_k, without interpolation; equal scores are one threshold.
#include "isobar/metrics/ranking.hpp"

namespace isobar::metrics {
namespace {

class AveragePrecision final : public Ranking {
 public:
  AveragePrecision() : Ranking("average_precision") {}

 private:
  double measure(std::span<const Ranked> falling, std::int64_t positives) const override {
    double area = 0;
    std::int64_t found = 0, before = 0;
    for (std::size_t i = 0; i < falling.size(); ++i) {
      found += falling[i].truth;
      if (i + 1 < falling.size() && falling[i + 1].score == falling[i].score) continue;
      area += static_cast<double>(found - before) * static_cast<double>(found) / static_cast<double>(i + 1);
      before = found;
    }
    return area / static_cast<double>(positives);
  }
};

}  // namespace

extern const Row<Metric> average_precision{"average_precision",
                                           "area under precision over recall, for two classes or many labels",
                                           make_member<AveragePrecision>};

}  // namespace isobar::metrics
