// Batch scaling around another schedule: the base rate is meant for `base_batch` samples per step and grows with the
// global batch: by=linear (Goyal et al., 2017) as batch / base_batch, by=sqrt as the square root of that.
#include <cmath>

#include "isobar/optim/rate_schedule.hpp"

namespace isobar::optim {
namespace {

class Scale final : public RateSchedule {
 public:
  explicit Scale(Args& args)
      : linear_(args.one_of("by", "linear", {"linear", "sqrt"}) == "linear"),
        base_batch_(args.integer("base_batch", 64)),
        then_(read_inner(args)) {
    args.require(base_batch_ >= 1, "base_batch must be at least 1");
  }
  double rate(double base, const Progress& progress) const override {
    const double ratio = static_cast<double>(progress.global_batch) / base_batch_;
    return then_->rate(base * (linear_ ? ratio : std::sqrt(ratio)), progress);
  }
  bool follows_losses() const override { return then_->follows_losses(); }

 private:
  bool linear_;
  std::int64_t base_batch_;
  std::unique_ptr<RateSchedule> then_;
};

}  // namespace

extern const Row<RateSchedule> rate_scale{"scale", "another schedule, its base rate scaled with the global batch",
                                          make_member<Scale>};

}  // namespace isobar::optim
