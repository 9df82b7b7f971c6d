// Schedules around another one, which their argument `then` names; by default it is constant.
#include <cmath>

#include "isobar/optim/rate_schedule.hpp"

namespace isobar::optim {
namespace {

std::unique_ptr<RateSchedule> read_inner(Args& args) {
  Spec resolved;
  auto inner = make(rate_schedules(), args.spec("then", "constant"), "rate schedule", &resolved);
  args.record("then", std::move(resolved));
  return inner;
}

// Batch scaling around another schedule: the base rate is meant for `base_batch` samples per step and grows with the
// global batch: by=linear (Goyal et al., 2017) as batch / base_batch, by=sqrt as the square root of that.
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

 private:
  bool linear_;
  std::int64_t base_batch_;
  std::unique_ptr<RateSchedule> then_;
};

// Warm-up around another schedule: for e < epochs the rate goes linearly from `from` times the base rate to that of the
// inner schedule, start + e (inner - start) / epochs; afterwards the inner schedule applies, with epochs counted from
// the start of the run. per=epoch changes the rate once per epoch (MLPerf), per=step every step.
// Around `scale` the start stays unscaled, as MLPerf's CosmoFlow requires with from=1.
class Warmup final : public RateSchedule {
 public:
  explicit Warmup(Args& args)
      : epochs_(args.real("epochs", 4)),
        from_(args.real("from", 0.1)),
        whole_epochs_(args.one_of("per", "step", {"step", "epoch"}) == "epoch"),
        then_(read_inner(args)) {
    args.require(epochs_ >= 0 && std::isfinite(epochs_), "epochs must be finite and not negative");
    args.require(from_ >= 0 && std::isfinite(from_), "from is a factor of the base rate and must not be negative");
  }
  double rate(double base, const Progress& progress) const override {
    const double goal = then_->rate(base, progress);
    const double e = whole_epochs_ ? static_cast<double>(progress.epoch()) : progress.epochs();
    if (e >= epochs_) return goal;
    const double start = from_ * base;
    return start + e * (goal - start) / epochs_;
  }

 private:
  double epochs_, from_;
  bool whole_epochs_;
  std::unique_ptr<RateSchedule> then_;
};

}  // namespace

extern const Row<RateSchedule> rate_scale{"scale", "another schedule, its base rate scaled with the global batch",
                                          make_member<Scale>};

extern const Row<RateSchedule> rate_warmup{"warmup", "linearly up to another schedule during the first epochs",
                                           make_member<Warmup>};

}  // namespace isobar::optim
