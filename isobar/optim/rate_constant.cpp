// The base rate throughout.
#include "isobar/optim/rate_schedule.hpp"

namespace isobar::optim {
namespace {

class ConstantRate final : public RateSchedule {
 public:
  double rate(double base, const Progress&) const override { return base; }
};

}  // namespace

extern const Row<RateSchedule> rate_constant{"constant", "the base rate throughout", make_member<ConstantRate>};

}  // namespace isobar::optim
