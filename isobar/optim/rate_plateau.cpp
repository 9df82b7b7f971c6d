// Drops when the loss of evaluations no longer falls: after more than `patience` evaluations in a row of which none is
// below (1 - threshold) times the lowest before, the rate is multiplied by `factor`, and counting begins anew; never
// below `lowest` times the base rate. All of it follows from the losses so far, so there is no state to keep.
#include <algorithm>
#include <cmath>
#include <limits>

#include "isobar/optim/rate_schedule.hpp"

namespace isobar::optim {
namespace {

class Plateau final : public RateSchedule {
 public:
  explicit Plateau(Args& args)
      : factor_(args.real("factor", 0.1)),
        patience_(args.integer("patience", 5)),
        threshold_(args.real("threshold", 1e-4)),
        lowest_(args.real("lowest", 0)) {
    args.require(factor_ > 0 && factor_ < 1, "factor must be above 0 and below 1");
    args.require(patience_ >= 0, "patience is a number of evaluations and must not be negative");
    args.require(threshold_ >= 0 && threshold_ < 1, "threshold is a part of the lowest loss, from 0 to below 1");
    args.require(lowest_ >= 0 && lowest_ <= 1, "lowest is a factor of the base rate and must lie between 0 and 1");
  }
  double rate(double base, const Progress& progress) const override {
    double best = std::numeric_limits<double>::infinity(), factor = 1;
    std::int64_t waited = 0;
    for (const double loss : progress.judged_losses) {
      // A negative loss must fall too. One that is not a number is no improvement.
      const bool better = std::isinf(best) ? loss < best : loss < best - threshold_ * std::abs(best);
      waited = better ? 0 : waited + 1;
      if (better) best = loss;
      if (waited <= patience_) continue;
      factor = std::max(lowest_, factor * factor_);
      waited = 0;
    }
    return base * factor;
  }
  bool follows_losses() const override { return true; }

 private:
  double factor_;
  std::int64_t patience_;
  double threshold_, lowest_;
};

}  // namespace

extern const Row<RateSchedule> rate_plateau{"plateau", "times factor when the loss of evaluations no longer falls",
                                            make_member<Plateau>};

}  // namespace isobar::optim
