// Exponential decay, changed every step: base gamma^(epochs / every), epochs with their fraction.
#include <cmath>

#include "isobar/optim/rate_schedule.hpp"

namespace isobar::optim {
namespace {

class Exponential final : public RateSchedule {
 public:
  explicit Exponential(Args& args) : every_(args.real("every", 1)), gamma_(args.real("gamma", 0.95)) {
    args.require(every_ > 0 && std::isfinite(every_), "every must be finite and above 0 epochs");
    args.require(gamma_ > 0 && gamma_ <= 1, "gamma must be above 0 and at most 1");
  }
  double rate(double base, const Progress& progress) const override {
    return base * std::pow(gamma_, progress.epochs() / every_);
  }

 private:
  double every_, gamma_;
};

}  // namespace

extern const Row<RateSchedule> rate_exponential{"exponential", "times gamma per `every` epochs, smoothly",
                                                make_member<Exponential>};

}  // namespace isobar::optim
