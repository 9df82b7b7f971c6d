// A strategy that leaves out some steps of another: the run as it would be without them.
#pragma once

#include <set>

#include "isobar/parallel/strategy.hpp"

namespace isobar::train {

class StrategyWithout final : public parallel::Strategy {
 public:
  StrategyWithout(std::unique_ptr<parallel::Strategy> whole, std::set<std::int64_t> without)
      : Strategy(whole->traits()), whole_(std::move(whole)), without_(std::move(without)) {}

  std::span<float> open(comm::Comm& world, std::size_t gradients, const parallel::Care& care) override {
    return whole_->open(world, gradients, care);
  }
  double step(parallel::Replica& replica, std::span<const parallel::Feed> feeds, const optim::Step& step) override {
    return without_.contains(step.index) ? 0 : whole_->step(replica, feeds, step);
  }
  void settle(parallel::Replica& replica, parallel::Settle until) override { whole_->settle(replica, until); }
  exec::StateBlocks state(parallel::Replica& replica) override { return whole_->state(replica); }
  comm::ExchangeCost cost() const override { return whole_->cost(); }
  std::string describe() const override { return whole_->describe(); }

 private:
  std::unique_ptr<parallel::Strategy> whole_;
  std::set<std::int64_t> without_;
};

}  // namespace isobar::train
