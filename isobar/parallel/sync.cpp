// sync: every rank applies the mean gradient of all ranks, every step. A bucket of gradients begins to travel as soon
// as it is final, while the backward pass goes on; its weights are updated as soon as it is back, while others travel,
// unless they are clipped together or a step is to be whole or nothing.
#include "isobar/parallel/exchange.hpp"
#include "isobar/parallel/updates.hpp"

namespace isobar::parallel {
namespace {

class Sync final : public Strategy {
 public:
  explicit Sync(ExchangeOptions options) : Strategy(traits_of(options)), options_(std::move(options)) {}

  StepNeeds needs(const PlannedRank& rank) const override { return options_.needs(rank); }
  std::span<float> open(comm::Comm& world, std::size_t gradients, const Care& care) override {
    updates_ = Updates(care);
    exchange_.emplace(options_, care, world, gradients);
    return exchange_->gradients();
  }

  double step(Replica& replica, std::span<const Feed> feeds, const optim::Step& step) override {
    StepExchange now = exchange_->begin(replica, feeds, step.index);
    const BucketSums sums = now.compute_and_sum();
    const ForwardSummary summary = now.summary();
    updates_.apply(replica, replica.gradients(), exchange_->buckets(replica).all(), step, summary,
                   [&](int b) { exchange_->wait(sums, b); });
    return summary.loss;
  }

  void settle(Replica& replica, Settle until) override {
    if (until != Settle::sums) exchange_->settle(replica);
  }
  exec::StateBlocks state(Replica&) override { return exchange_->state(); }
  comm::ExchangeCost cost() const override { return exchange_->cost(); }
  std::string describe() const override { return "sync: " + exchange_->describe(); }

 private:
  static StrategyTraits traits_of(const ExchangeOptions& options) {
    StrategyTraits traits = options.traits();
    traits.nests = true;
    return traits;
  }

  ExchangeOptions options_;
  std::optional<Exchange> exchange_;  // once it is open
  Updates updates_;
};

}  // namespace

extern const Row<Strategy> sync;
const Row<Strategy> sync{
    "sync", "every step, every rank applies the mean gradient of all ranks",
    [](Args& args) -> std::unique_ptr<Strategy> { return std::make_unique<Sync>(read_exchange_options(args)); }};

}  // namespace isobar::parallel
