// A staircase (Smith et al., 2018: increase the batch instead of lowering the rate): factor i holds from epoch at[i]
// on, and 1 before the first. Factors are absolute and may also decrease.
#include <algorithm>
#include <cmath>

#include "isobar/optim/batch_ramp.hpp"

namespace isobar::optim {
namespace {

class Steps final : public BatchRamp {
 public:
  explicit Steps(Args& args) : at_(args.reals("at", {30, 60})), factors_(args.integers("factors", {2, 4})) {
    args.require(at_.size() == factors_.size(), "at and factors must have the same length");
    for (std::size_t i = 0; i < at_.size(); ++i) {
      args.require(at_[i] >= 0 && std::isfinite(at_[i]), "at must be epochs, finite and not negative");
      args.require(i == 0 || at_[i] > at_[i - 1], "at must increase");
      args.require(factors_[i] >= 1 && factors_[i] <= max_batch_factor, "factors must lie between 1 and 1048576");
    }
  }
  std::int64_t factor(const Progress& progress) const override {
    const auto passed = std::upper_bound(at_.begin(), at_.end(), progress.epochs()) - at_.begin();
    return passed == 0 ? 1 : factors_[passed - 1];
  }
  std::int64_t largest() const override {
    std::int64_t most = 1;
    for (const std::int64_t factor : factors_) most = std::max(most, factor);
    return most;
  }

 private:
  std::vector<double> at_;
  std::vector<std::int64_t> factors_;
};

}  // namespace

extern const Row<BatchRamp> ramp_steps{"steps", "a new multiple of the batch at given epochs", make_member<Steps>};

}  // namespace isobar::optim
