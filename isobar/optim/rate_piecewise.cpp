// Piecewise constant, as in MLPerf's CosmoFlow: factors are absolute, not cumulative, and factor i holds once epoch >
// boundary i (strictly), with epochs counted from 0.
#include "isobar/optim/rate_schedule.hpp"

namespace isobar::optim {
namespace {

class Piecewise final : public RateSchedule {
 public:
  explicit Piecewise(Args& args)
      : boundaries_(args.reals("boundaries", {32, 64})), factors_(args.reals("factors", {0.25, 0.125})) {
    args.require(boundaries_.size() == factors_.size(), "boundaries and factors must have the same length");
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      args.require(i == 0 || boundaries_[i] > boundaries_[i - 1], "boundaries must increase");
      args.require(boundaries_[i] >= 0, "boundaries are epochs and must not be negative");
      args.require(factors_[i] >= 0 && factors_[i] < 1e6, "factors must be at least 0 and below 1e6");
    }
  }
  double rate(double base, const Progress& progress) const override {
    double factor = 1;
    for (std::size_t i = 0; i < factors_.size(); ++i)
      if (static_cast<double>(progress.epoch()) > boundaries_[i]) factor = factors_[i];
    return base * factor;
  }

 private:
  std::vector<double> boundaries_, factors_;
};

}  // namespace

extern const Row<RateSchedule> rate_piecewise{"piecewise", "a factor of the base rate for each range of epochs",
                                              make_member<Piecewise>};

}  // namespace isobar::optim
