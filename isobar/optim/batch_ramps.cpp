// All batch ramps.
#include <algorithm>
#include <cmath>

#include "isobar/optim/batch_ramp.hpp"

namespace isobar::optim {
namespace {

// No ramp: the recipe's batch throughout, or `factor` times that batch.
class ConstantRamp final : public BatchRamp {
 public:
  explicit ConstantRamp(Args& args) : factor_(args.integer("factor", 1)) {
    args.require(factor_ >= 1 && factor_ <= max_batch_factor, "factor must lie between 1 and 1048576");
  }
  std::int64_t factor(const Progress&) const override { return factor_; }
  std::int64_t largest() const override { return factor_; }

 private:
  std::int64_t factor_;
};

// A straight line from factor `from` to factor `to` during `over` epochs (0: the whole run), rounded to whole numbers;
// afterwards `to`. The factor may also decrease.
class Linear final : public BatchRamp {
 public:
  explicit Linear(Args& args)
      : from_(args.integer("from", 1)), to_(args.integer("to", 4)), over_(args.real("over", 0)) {
    for (const std::int64_t end : {from_, to_})
      args.require(end >= 1 && end <= max_batch_factor, "from and to must lie between 1 and 1048576");
    args.require(over_ >= 0 && std::isfinite(over_), "over is a number of epochs: above 0, or 0 for the whole run");
  }
  std::int64_t factor(const Progress& progress) const override {
    const double length = over_ > 0 ? over_ : progress.total_epochs();
    const double part = length > 0 ? std::min(1.0, progress.epochs() / length) : 1;
    return std::llround(static_cast<double>(from_) + part * static_cast<double>(to_ - from_));
  }
  std::int64_t largest() const override { return std::max(from_, to_); }

 private:
  std::int64_t from_, to_;
  double over_;
};

// A staircase (Smith et al., 2018: increase the batch instead of lowering the rate): factor i holds from epoch at[i]
// on, and 1 before the first. Factors are absolute and may also decrease.
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

extern const Row<BatchRamp> ramp_constant{"constant", "the same batch throughout", make_member<ConstantRamp>};

extern const Row<BatchRamp> ramp_linear{"linear", "the multiple of the batch along a straight line",
                                        make_member<Linear>};

extern const Row<BatchRamp> ramp_steps{"steps", "a new multiple of the batch at given epochs", make_member<Steps>};

}  // namespace isobar::optim
