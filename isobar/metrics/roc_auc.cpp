// roc_auc: the probability that a true case scores higher than a false one; equal scores count half. It is the area
// under the curve of true over false positives.
#include "isobar/metrics/ranking.hpp"

namespace isobar::metrics {
namespace {

class RocAuc final : public Ranking {
 public:
  RocAuc() : Ranking("roc_auc") {}

 private:
  double measure(std::span<const Ranked> falling, std::int64_t positives) const override {
    double pairs = 0;        // in the right order
    std::int64_t above = 0;  // true cases with a higher score
    for (std::size_t i = 0; i < falling.size();) {
      std::int64_t true_here = 0, false_here = 0;
      const float score = falling[i].score;
      for (; i < falling.size() && falling[i].score == score; ++i) ++(falling[i].truth ? true_here : false_here);
      pairs += static_cast<double>(false_here) * (static_cast<double>(above) + 0.5 * static_cast<double>(true_here));
      above += true_here;
    }
    return pairs /
           (static_cast<double>(positives) * (static_cast<double>(falling.size()) - static_cast<double>(positives)));
  }
};

}  // namespace

extern const Row<Metric> roc_auc{"roc_auc", "area under the receiver operating curve, for two classes or many labels",
                                 make_member<RocAuc>};

}  // namespace isobar::metrics
