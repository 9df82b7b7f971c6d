// A straight line from factor `from` to factor `to` during `over` epochs (0: the whole run), rounded to whole numbers;
// afterwards `to`. The factor may also decrease.
#include <algorithm>
#include <cmath>

#include "isobar/optim/batch_ramp.hpp"

namespace isobar::optim {
namespace {

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

}  // namespace

extern const Row<BatchRamp> ramp_linear{"linear", "the multiple of the batch along a straight line",
                                        make_member<Linear>};

}  // namespace isobar::optim
