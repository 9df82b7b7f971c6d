// easgd: elastic averaging: every rank trains a model of its own, and every `period` steps an elastic force draws it
// towards a centre, and the centre towards all of them. The centre is the model. With momentum in the optimizer it is
// EAMSGD. Every rank holds the centre, and the forces are summed over ranks: they are taken before a step and applied
// behind it, so that they travel while its gradients are computed. Or servers hold the centre, and each rank exchanges
// with it when it is there, without waiting for the others.
#include "isobar/parallel/own_steps.hpp"
#include "isobar/parallel/served_parts.hpp"

namespace isobar::parallel {
namespace {

class Easgd final : public Strategy {
 public:
  Easgd(std::int64_t period, double beta, ExchangeOptions options)
      : Strategy(OwnSteps::traits(options)), options_(std::move(options)), period_(period), beta_(beta) {}

  StepNeeds needs(const PlannedRank& rank) const override { return options_.needs(rank, 4, period_); }
  std::span<float> open(comm::Comm& world, std::size_t gradients, const Care& care) override {
    alpha_ = static_cast<float>(beta_ / world.size());
    steps_.emplace(options_, care, world, gradients, 1);
    return steps_->exchange().gradients();
  }

  void begin(Replica& replica, std::int64_t) override { take_centre(replica); }

  double step(Replica& replica, std::span<const Feed> feeds, const optim::Step& step) override {
    take_centre(replica);
    const bool meets = since_ == period_;
    BucketSums sums;
    const auto start = [&](StepExchange& now) { sums = start_forces(replica, now, step.index); };
    const auto behind = [&](StepExchange&) {
      if (meets) apply_forces(replica, sums, step.index);
      since_ = meets ? 1 : since_ + 1;
    };
    try {
      return steps_->take(replica, feeds, step, behind, meets ? start : OwnSteps::Mix());
    } catch (const NotFinite&) {  // whoever meets it has no sums under way
      steps_->wait(replica, sums);
      throw;
    }
  }

  void settle(Replica& replica, Settle until) override {
    if (until == Settle::sums) return steps_->own().take_back(replica);
    if (since_ == 0 || steps_->own().is_aside()) return;
    steps_->own().set_aside(replica);
    steps_->exchange().settle(replica);
    const std::span<float> weights = replica.weights();
    for_all_trained(replica, mixing_, 0, 8, [&](std::size_t i) { weights[i] = centre_[i]; });
  }

  exec::StateBlocks state(Replica& replica) override {
    exec::StateBlocks blocks = steps_->exchange().state();
    for (exec::StateBlock& block : steps_->own().state(replica, since_ > 0)) blocks.push_back(std::move(block));
    blocks.push_back({.name = "steps since the last force", .content = std::span(&since_, 1), .may_drop = true});
    take_centre(replica);
    // What is saved as the model is the centre, until the first step.
    blocks.push_back({.name = "centre",
                      .content = std::span(centre_),
                      .start = exec::StateBlock::Start::weights,
                      .may_drop = true,
                      .in_use = since_ > 0});
    return blocks;
  }
  comm::ExchangeCost cost() const override { return steps_->exchange().cost(); }
  std::string describe() const override {
    return fmt::format("easgd: elastic force of {:.3g} every {} step{}: {}", alpha_, period_, period_ == 1 ? "" : "s",
                       steps_->exchange().describe());
  }

 private:
  void take_centre(Replica& replica) {
    if (!centre_.empty() || replica.pretends(0)) return;
    const std::span<const float> weights = replica.weights();
    centre_.assign(weights.begin(), weights.end());
  }

  BucketSums start_forces(Replica& replica, StepExchange& now, std::int64_t step) {
    const std::span<float> forces = steps_->exchange().copy(0), weights = replica.weights();
    if (own_forces_.empty() && !replica.pretends(0)) own_forces_.resize(weights.size());
    for_all_trained(replica, mixing_, step, 20,
                    [&](std::size_t i) { own_forces_[i] = forces[i] = alpha_ * (weights[i] - centre_[i]); });
    return now.sum(0, 0);
  }

  void apply_forces(Replica& replica, const BucketSums& sums, std::int64_t step) {
    const std::span<float> forces = steps_->exchange().copy(0), weights = replica.weights();
    steps_->wait(replica, sums);
    for_all_trained(replica, mixing_, step, 24, [&](std::size_t i) {
      weights[i] -= own_forces_[i];
      centre_[i] += forces[i];
    });
  }

  ExchangeOptions options_;
  std::int64_t period_;
  double beta_;
  float alpha_ = 0;
  std::optional<OwnSteps> steps_;  // once it is open
  std::int64_t since_ = 0;         // steps since the last force
  std::vector<float> centre_, own_forces_;
  Chore mixing_{Category::optimizer, "elastic force"};
};

Between between_with_centre(double beta, std::int64_t period) {
  return {"easgd", comm::Pace::free, [=] { return pull_together(beta); },
          [=](TeamLine& line) { return push_weights(line, period); }, /*keeps_slots=*/false};
}

}  // namespace

extern const Row<Strategy> easgd;
const Row<Strategy> easgd{
    "easgd", "every rank trains its own model, drawn elastically towards a centre, which is the model",
    [](Args& args) -> std::unique_ptr<Strategy> {
      const std::int64_t period = args.integer("period", 10);
      args.require(period >= 1 && period <= 1'000'000, "period must lie between 1 and 1000000 steps");
      const double beta = args.real("beta", 0.9);
      args.require(beta >= 0 && beta < 2, "beta must be at least 0 and below 2: the force of all ranks together");
      if (args.one_of("centre", "ranks", {"ranks", "server"}) == "ranks")
        return std::make_unique<Easgd>(period, beta, read_exchange_options(args));
      const ServedOptions options = read_served_options(args);
      return serve_teams("easgd", 1, make(strategies(), "solo", "strategy"), between_with_centre(beta, period),
                         options);
    }};

}  // namespace isobar::parallel
