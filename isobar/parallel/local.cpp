// local: every rank takes some steps of its own, then all go on from the mean of their models, weighted by the samples
// of each. Optimizer slots stay
// each rank's own. With an outer optimizer, the way from the last common model to the mean is a gradient to it: block
// momentum, DiLoCo. Before epoch `from`, it is sync.
#include "isobar/parallel/own_steps.hpp"

namespace isobar::parallel {
namespace {

struct LocalOptions {
  ExchangeOptions exchange{};
  std::int64_t steps = 1, from = 0;
  bool reset = false;
  std::shared_ptr<const optim::Optimizer> outer{};  ///< null: all go on from the mean
  std::string outer_name{};

  /// Whether the last common model is remembered: what a codec rounds is the way from it.
  bool has_anchor() const { return outer || !exchange.reducer.codec->is_plain(); }
  std::size_t copies() const { return (has_anchor() ? 1 : 0) + (outer ? outer->slots() : 0); }
};

class Local final : public Strategy {
 public:
  explicit Local(LocalOptions options) : Strategy(OwnSteps::traits(options.exchange)), options_(std::move(options)) {}

  StepNeeds needs(const PlannedRank& rank) const override {
    return options_.exchange.needs(rank, static_cast<int>(1 + options_.copies()), options_.steps);
  }
  std::span<float> open(comm::Comm& world, std::size_t gradients, const Care& care) override {
    updates_ = Updates(care);
    steps_.emplace(options_.exchange, care, world, gradients);
    return steps_->exchange().gradients();
  }

  double step(Replica& replica, std::span<const Feed> feeds, const optim::Step& step) override {
    if (feeds.front().run.epoch < options_.from) return step_of_all(replica, feeds, step);
    take_anchor(replica);
    return steps_->take(replica, feeds, step, [&](StepExchange& now) {
      apart_ = 1;
      samples_ += steps_->rows();
      if (++since_ == options_.steps) meet(replica, &now, step.index);
    });
  }

  void settle(Replica& replica, Settle until) override {
    if (until == Settle::judged && since_ > 0) return steps_->judge_by_mean(replica, samples_);
    steps_->own().take_back(replica);
    if (until == Settle::sums) return;
    if (since_ > 0) meet(replica, nullptr, 0);
    steps_->exchange().settle(replica);
  }

  exec::StateBlocks state(Replica& replica) override {
    using Block = exec::StateBlock;
    exec::StateBlocks blocks = steps_->exchange().state();
    const bool slots_differ = apart_ > 0 && !(options_.reset && since_ == 0);
    for (exec::StateBlock& block : steps_->own().state(replica, slots_differ)) blocks.push_back(std::move(block));
    blocks.push_back({.name = "steps since the last mean", .content = std::span(&since_, 1), .may_drop = true});
    blocks.push_back({.name = "samples in the mean",
                      .content = std::span(&samples_, 1),
                      .scope = Block::Scope::each_rank,
                      .merge = Block::Merge::mean,
                      .may_drop = true,
                      .in_use = since_ > 0});
    blocks.push_back({.name = "whether slots differ", .content = std::span(&apart_, 1), .may_drop = true});
    blocks.push_back({.name = "means", .content = std::span(&means_, 1), .may_drop = true});
    if (!options_.has_anchor()) return blocks;
    take_anchor(replica);
    blocks.push_back({.name = "the last common model",
                      .content = std::span(anchor_),
                      .start = Block::Start::weights,
                      .may_drop = true,
                      .in_use = since_ > 0});
    for (std::size_t s = 0; s < outer_slots_.size(); ++s)
      blocks.push_back({.name = fmt::format("outer slot {}", s),
                        .content = std::span(outer_slots_[s]),
                        .may_drop = true,
                        .in_use = means_ > 0});
    return blocks;
  }
  comm::ExchangeCost cost() const override { return steps_->exchange().cost(); }
  std::string describe() const override {
    return fmt::format("local: mean of models every {} step{}{}{}: {}", options_.steps, options_.steps == 1 ? "" : "s",
                       options_.from > 0 ? fmt::format(" from epoch {} on", options_.from + 1) : "",
                       options_.outer ? ", outer " + options_.outer_name : "", steps_->exchange().describe());
  }

 private:
  // As sync does it.
  double step_of_all(Replica& replica, std::span<const Feed> feeds, const optim::Step& step) {
    Exchange& exchange = steps_->exchange();
    StepExchange now = exchange.begin(replica, feeds, step.index);
    const BucketSums sums = now.compute_and_sum();
    const ForwardSummary summary = now.summary();
    updates_.apply(replica, replica.gradients(), exchange.buckets(replica).all(), step, summary,
                   [&](int b) { exchange.wait(sums, b); });
    return summary.loss;
  }

  // Between means it stays what it is.
  void take_anchor(Replica& replica) {
    if (!options_.has_anchor() || (since_ > 0 && !anchor_.empty()) || replica.pretends(0)) return;
    const std::span<const float> weights = replica.weights();
    anchor_.assign(weights.begin(), weights.end());
    if (outer_slots_.empty() && options_.outer)
      outer_slots_.assign(options_.outer->slots(), std::vector<float>(weights.size()));
  }

  // `now` is the step under way, if any: what a codec leaves out is for the means of steps.
  void meet(Replica& replica, StepExchange* now, std::int64_t step) {
    since_ = 0;
    ++means_;
    const auto share = steps_->exchange().share_of(replica, std::exchange(samples_, 0));
    if (share && now && options_.has_anchor()) go_on_from_anchor(replica, *now, step, *share);
    else if (share) steps_->exchange().average(replica, *share);
    if (now) steps_->exchange().settle(replica);
    if (!options_.reset) return;
    apart_ = 0;
    for (const ReplicaParameter& each : replica.parameters())
      for (const std::span<float> slot : each.slots)
        if (!replica.pretends(static_cast<double>(slot.size_bytes()))) std::ranges::fill(slot, 0.0f);
  }

  void go_on_from_anchor(Replica& replica, StepExchange& now, std::int64_t step, float share) {
    const std::span<float> ways = replica.gradients(), weights = replica.weights();
    for_all_trained(replica, mixing_, step, 12, [&](std::size_t i) { ways[i] = share * (anchor_[i] - weights[i]); });
    steps_->wait(replica, now.sum(-1, 0));
    for_all_trained(replica, mixing_, step, 8, [&](std::size_t i) { weights[i] = anchor_[i]; });
    for (const ReplicaParameter& each : replica.parameters()) {
      if (!each.trained || replica.pretends(12.0 * static_cast<double>(each.weight.size()))) continue;
      if (options_.outer) update_by_outer(each, each.in(std::span<const float>(ways)));
      else
        for (std::size_t i = 0; i < each.weight.size(); ++i) each.weight[i] -= each.gradient[i];
    }
  }

  void update_by_outer(const ReplicaParameter& parameter, std::span<const float> way) {
    std::vector<std::span<float>> slots;
    for (std::vector<float>& slot : outer_slots_)
      slots.push_back(std::span(slot).subspan(parameter.offset, parameter.weight.size()));
    options_.outer->update(parameter.weight, way, slots,
                           {.index = means_, .learning_rate = options_.outer->base_rate(), .decay_scale = 0});
  }

  LocalOptions options_;
  Updates updates_;
  std::optional<OwnSteps> steps_;  // once it is open
  std::int64_t since_ = 0, apart_ = 0, means_ = 0;
  double samples_ = 0;  // of this rank since the last mean
  std::vector<float> anchor_;
  std::vector<std::vector<float>> outer_slots_;
  Chore mixing_{Category::optimizer, "step of all models together"};
};

std::unique_ptr<Strategy> read_local(Args& args) {
  LocalOptions options;
  options.steps = args.integer("steps", 8);
  args.require(options.steps >= 1 && options.steps <= 1'000'000, "steps must lie between 1 and 1000000");
  options.from = args.integer("from", 0);
  args.require(options.from >= 0, "from must be an epoch: 0, 1, 2, ...");
  options.reset = args.flag("reset", false);
  Spec outer = args.spec("outer", "none");
  if (outer.name() != "none") {
    options.outer = make(optim::optimizers(), outer, "optimizer", &outer);
    options.outer_name = outer.str();
  }
  args.record("outer", outer);
  options.exchange = read_exchange_options(args);
  return std::make_unique<Local>(std::move(options));
}

}  // namespace

extern const Row<Strategy> local;
const Row<Strategy> local{"local", "every rank takes some steps alone, then all go on from the mean of their models",
                          read_local};

}  // namespace isobar::parallel
