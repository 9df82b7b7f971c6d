#include "isobar/parallel/own_steps.hpp"

namespace isobar::parallel {

OwnSteps::OwnSteps(const ExchangeOptions& options, const Care& care, comm::Comm& world, std::size_t gradients,
                   int copies)
    : exchange_(options, care, world, gradients, copies), updates_(care) {}

// What a rank that dies has learned since the last exchange is lost with it.
StrategyTraits OwnSteps::traits(const ExchangeOptions& options) {
  StrategyTraits traits = options.traits();
  traits.recovers = false;
  traits.whole_models = true;
  return traits;
}

double OwnSteps::take(Replica& replica, std::span<const Feed> feeds, const optim::Step& step, const Mix& mix,
                      const Mix& before) {
  own_.take_back(replica);
  StepExchange now = exchange_.begin(replica, feeds, step.index);
  if (before) before(now);
  const std::span<const Bucket> buckets = exchange_.buckets(replica).all();
  now.compute([&] { return updates_.finite(replica, buckets, step.index) ? std::size_t{0} : 1; });
  const ForwardSummary summary = now.summary();
  updates_.expect_finite(summary);
  rows_ = 0;
  for (const Feed& feed : feeds) rows_ += static_cast<double>(rows_of(feed));
  if (rows_ > 0) {
    // Gradients come as parts of the mean over the samples of all ranks.
    optim::Step own = step;
    if (const double total = feeds.front().run.total; total > 0) own.gradient_scale *= total / rows_;
    own = updates_.clipped(replica, replica.gradients(), own);
    for (int p = 0; p < replica.count(); ++p) replica.update(p, replica[p].gradient, own);
  }
  mix(now);
  return summary.loss;
}

void OwnSteps::wait(const Replica& replica, const BucketSums& sums) {
  for (int b = 0; b < exchange_.buckets(replica).count(); ++b) exchange_.wait(sums, b);
}

void OwnSteps::average(Replica& replica, double weight) {
  if (const auto share = exchange_.share_of(replica, weight)) exchange_.average(replica, *share);
}

void OwnSteps::judge_by_mean(Replica& replica, double weight) {
  if (own_.is_aside()) return;
  own_.set_aside(replica);
  average(replica, weight);
}

}  // namespace isobar::parallel
