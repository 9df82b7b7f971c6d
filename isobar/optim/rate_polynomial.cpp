// Polynomial decay: base (end + (1 - end) (1 - t)^power), t the part of `epochs` that is over; afterwards base end.
#include <cmath>

#include "isobar/optim/rate_schedule.hpp"

namespace isobar::optim {
namespace {

class Polynomial final : public RateSchedule {
 public:
  explicit Polynomial(Args& args) : power_(args.real("power", 1)), end_(read_end(args)), elapsed_(args) {
    args.require(power_ > 0 && std::isfinite(power_), "power must be finite and above 0");
  }
  double rate(double base, const Progress& progress) const override {
    return base * (end_ + (1 - end_) * std::pow(1 - elapsed_.part(progress), power_));
  }

 private:
  double power_, end_;
  Elapsed elapsed_;
};

}  // namespace

extern const Row<RateSchedule> rate_polynomial{
    "polynomial", "down to a factor `end` of the base rate along a power of the time left", make_member<Polynomial>};

}  // namespace isobar::optim
