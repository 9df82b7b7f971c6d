#include "isobar/optim/rate_schedule.hpp"

#include <algorithm>
#include <cmath>

namespace isobar::optim {

std::unique_ptr<RateSchedule> read_inner(Args& args) {
  Spec resolved;
  auto inner = make(rate_schedules(), args.spec("then", "constant"), "rate schedule", &resolved);
  args.record("then", std::move(resolved));
  return inner;
}

Elapsed::Elapsed(Args& args) : epochs_(args.real("epochs", 0)) {
  args.require(epochs_ >= 0 && std::isfinite(epochs_), "epochs must be above 0, or 0 for the whole run");
}

double Elapsed::part(const Progress& progress) const {
  const double length = epochs_ > 0 ? epochs_ : progress.total_epochs();
  return length > 0 ? std::min(1.0, progress.epochs() / length) : 1;
}

double read_end(Args& args) {
  const double end = args.real("end", 0);
  args.require(end >= 0 && end <= 1, "end is a factor of the base rate and must lie between 0 and 1");
  return end;
}

}  // namespace isobar::optim
