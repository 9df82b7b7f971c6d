// Drops at regular intervals: base gamma^floor(epoch / every), epochs counted from 0.
#include <cmath>

#include "isobar/optim/rate_schedule.hpp"

namespace isobar::optim {
namespace {

class StepDrop final : public RateSchedule {
 public:
  explicit StepDrop(Args& args) : every_(args.integer("every", 30)), gamma_(args.real("gamma", 0.1)) {
    args.require(every_ >= 1, "every must be at least 1 epoch");
    args.require(gamma_ > 0 && gamma_ <= 1, "gamma must be above 0 and at most 1");
  }
  double rate(double base, const Progress& progress) const override {
    return base * std::pow(gamma_, static_cast<double>(progress.epoch() / every_));
  }

 private:
  std::int64_t every_;
  double gamma_;
};

}  // namespace

extern const Row<RateSchedule> rate_step{"step", "times gamma after every `every` epochs", make_member<StepDrop>};

}  // namespace isobar::optim
