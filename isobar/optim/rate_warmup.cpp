// Warm-up around another schedule: for e < epochs the rate goes linearly from `from` times the base rate to that of the
// inner schedule, start + e (inner - start) / epochs; afterwards the inner schedule applies, with epochs counted from
// the start of the run. per=epoch changes the rate once per epoch (MLPerf), per=step every step.
// Around `scale` the start stays unscaled, as MLPerf's CosmoFlow requires with from=1.
#include <cmath>

#include "isobar/optim/rate_schedule.hpp"

namespace isobar::optim {
namespace {

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
  bool follows_losses() const override { return then_->follows_losses(); }

 private:
  double epochs_, from_;
  bool whole_epochs_;
  std::unique_ptr<RateSchedule> then_;
};

}  // namespace

extern const Row<RateSchedule> rate_warmup{"warmup", "linearly up to another schedule during the first epochs",
                                           make_member<Warmup>};

}  // namespace isobar::optim
