// A strategy that keeps more than another: blocks of every scope, which follow the weights from step to step.
#pragma once

#include "isobar/parallel/strategy.hpp"

#include "tests/checkpoint/rank_blocks.hpp"

namespace isobar::train {

class StrategyWith final : public parallel::Strategy {
 public:
  explicit StrategyWith(std::unique_ptr<parallel::Strategy> inner)
      : Strategy(inner->traits()), inner_(std::move(inner)) {}

  std::span<float> open(comm::Comm& world, std::size_t gradients, const parallel::Care& care) override {
    rank_ = world.rank();
    cuts_ = tests::even_cut(gradients, world.rank(), world.size());
    piece_.assign(tests::count_of(cuts_), 0.0f);
    for (std::vector<float>* array : {&centre_, &drift_, &copy_}) array->assign(gradients, 0.0f);
    return inner_->open(world, gradients, care);
  }
  double step(parallel::Replica& replica, std::span<const parallel::Feed> feeds, const optim::Step& step) override {
    const double loss = inner_->step(replica, feeds, step);
    ++steps_, clock_ += 1 + rank_;
    for (const parallel::ReplicaParameter& parameter : replica.parameters())
      if (parameter.trained)
        for (std::size_t i = 0; i < parameter.weight.size(); ++i) follow(parameter.offset + i, parameter.weight[i]);
    return loss;
  }
  void settle(parallel::Replica& replica, parallel::Settle until) override { inner_->settle(replica, until); }

  exec::StateBlocks state(parallel::Replica& replica) override {
    using Block = exec::StateBlock;
    exec::StateBlocks blocks = inner_->state(replica);
    blocks.push_back(
        {.name = "centre", .content = std::span(centre_), .start = Block::Start::weights, .may_drop = true});
    blocks.push_back({.name = "steps", .content = std::span(&steps_, 1), .may_drop = true});
    blocks.push_back({.name = "drift",
                      .content = std::span(drift_),
                      .scope = Block::Scope::each_rank,
                      .merge = Block::Merge::sum,
                      .may_drop = true});
    blocks.push_back({.name = "copy",
                      .content = std::span(copy_),
                      .scope = Block::Scope::each_rank,
                      .merge = Block::Merge::mean,
                      .start = Block::Start::weights});
    blocks.push_back({.name = "clock",
                      .content = std::span(&clock_, 1),
                      .scope = Block::Scope::each_rank,
                      .merge = Block::Merge::mean});
    blocks.push_back({.name = "shard", .content = std::span(piece_), .scope = Block::Scope::piece, .cuts = cuts_});
    return blocks;
  }
  comm::ExchangeCost cost() const override { return inner_->cost(); }
  std::string describe() const override { return inner_->describe() + ", and blocks"; }

 private:
  void follow(std::size_t i, float weight) {
    centre_[i] += 0.25f * (weight - centre_[i]);
    drift_[i] += static_cast<float>(rank_ + 1) * weight;
    copy_[i] = 0.5f * copy_[i] + static_cast<float>(rank_ + 1) * weight;
    if (i >= cuts_[0].begin && i < cuts_[0].begin + cuts_[0].count) {
      float& mine = piece_[i - cuts_[0].begin];
      mine = 0.5f * mine + weight;
    }
  }

  std::unique_ptr<parallel::Strategy> inner_;
  int rank_ = 0;
  std::vector<exec::StateBlock::Cut> cuts_;
  std::vector<float> centre_, drift_, copy_, piece_;
  std::int64_t steps_ = 0;
  double clock_ = 0;
};

}  // namespace isobar::train
