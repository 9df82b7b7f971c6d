// A strategy that leaves out some steps of another: the run as it would be without them.
#pragma once

#include <set>

#include "isobar/parallel/strategy.hpp"

namespace isobar::train {

class StrategyWithout final : public parallel::Strategy {
 public:
  StrategyWithout(std::unique_ptr<parallel::Strategy> whole, std::set<std::int64_t> without)
      : whole_(std::move(whole)), without_(std::move(without)) {}

  void take_care(const parallel::Care& care) override { whole_->take_care(care); }
  std::span<float> open(comm::Comm& world, std::size_t gradients) override { return whole_->open(world, gradients); }
  double step(parallel::Replica& replica, std::span<const parallel::Feed> feeds, const optim::Step& step) override {
    return without_.contains(step.index) ? 0 : whole_->step(replica, feeds, step);
  }
  void undo(parallel::Replica& replica) override { whole_->undo(replica); }
  bool recovers() const override { return whole_->recovers(); }
  void rest() override { whole_->rest(); }
  void settle(parallel::Replica& replica) override { whole_->settle(replica); }
  void finish(parallel::Replica& replica) override { whole_->finish(replica); }
  std::vector<std::pair<std::string, std::span<float>>> kept() override { return whole_->kept(); }
  std::span<double> kept_numbers() override { return whole_->kept_numbers(); }
  std::span<double> own_numbers() override { return whole_->own_numbers(); }
  comm::ExchangeCost cost() const override { return whole_->cost(); }
  std::string describe() const override { return whole_->describe(); }

 private:
  std::unique_ptr<parallel::Strategy> whole_;
  std::set<std::int64_t> without_;
};

}  // namespace isobar::train
