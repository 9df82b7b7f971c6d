// Half a cosine (Loshchilov and Hutter, 2017, without restarts): base (end + (1 - end) (1 + cos(pi t)) / 2), t the part
// of `epochs` that is over; afterwards base end.
#include <cmath>
#include <numbers>

#include "isobar/optim/rate_schedule.hpp"

namespace isobar::optim {
namespace {

class Cosine final : public RateSchedule {
 public:
  explicit Cosine(Args& args) : end_(read_end(args)), elapsed_(args) {}
  double rate(double base, const Progress& progress) const override {
    const double height = (1 + std::cos(std::numbers::pi * elapsed_.part(progress))) / 2;
    return base * (end_ + (1 - end_) * height);
  }

 private:
  double end_;
  Elapsed elapsed_;
};

}  // namespace

extern const Row<RateSchedule> rate_cosine{"cosine", "down to a factor `end` of the base rate along half a cosine",
                                           make_member<Cosine>};

}  // namespace isobar::optim
