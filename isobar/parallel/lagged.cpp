// lagged: the mean gradient of step t is applied k steps later, after the backward pass of step t + k: it has that long
// to travel, from a copy, while steps go on with weights k updates old. Each gradient is applied with the number and
// the rate of its own step, so that N steps and the last settle() make the N updates of the steps 1 to N, in order; the
// first k steps apply nothing. k = 0 is sync. A rank looks at its own gradients before they are laid aside and says so
// with the loss: bad ones are known in their own step, and only what the sum itself spoils is found when it is due.
#include <algorithm>
#include <limits>

#include "isobar/parallel/exchange.hpp"
#include "isobar/parallel/updates.hpp"

namespace isobar::parallel {
namespace {

constexpr std::int64_t most_copies = 64;

/// A copy of the gradients: what step they are of (0: none), and their sums under way, if any.
struct LaidAside {
  static constexpr optim::Step nothing{
      .index = 0, .learning_rate = 0, .decay_scale = 0, .rate_scale = 0, .gradient_scale = 0};
  optim::Step step = nothing;
  BucketSums sums{};
};

class Lagged final : public Strategy {
 public:
  Lagged(std::int64_t lag, ExchangeOptions options)
      : Strategy(traits_of(lag, options)), options_(std::move(options)), copies_(static_cast<std::size_t>(lag)) {}

  StepNeeds needs(const PlannedRank& rank) const override {
    return options_.needs(rank, static_cast<int>(copies_.size()));
  }
  std::span<float> open(comm::Comm& world, std::size_t gradients, const Care& care) override {
    updates_ = Updates(care);
    exchange_.emplace(options_, care, world, gradients, static_cast<int>(copies_.size()));
    return exchange_->gradients();
  }

  double step(Replica& replica, std::span<const Feed> feeds, const optim::Step& step) override {
    return with_no_sums_left_if_bad([&] {
      StepExchange now = exchange_->begin(replica, feeds, step.index);
      // Nobody waits for these gradients when the loss is known: what is wrong with them is told beside it.
      const auto buckets = exchange_->buckets(replica).all();
      now.compute([&] { return updates_.finite(replica, buckets, step.index) ? std::size_t{0} : 1; });
      if (copies_.empty()) {
        const BucketSums sums = start(now, -1);
        const ForwardSummary summary = now.summary();
        apply(replica, replica.gradients(), sums, step, summary);
        return summary.loss;
      }
      const ForwardSummary summary = now.summary();
      updates_.expect_finite(summary);
      const int next = first_by([](const LaidAside& copy) { return copy.step.index; });  // one of none, or the oldest
      apply(replica, next);
      copy_gradients(replica, next, step.index);
      copies_[static_cast<std::size_t>(next)] = {step, start(now, next)};
      return summary.loss;
    });
  }

  void settle(Replica& replica, Settle until) override {
    if (until == Settle::updates) with_no_sums_left_if_bad([&] { apply_all(replica); });
    else wait_all();
    if (until != Settle::sums) exchange_->settle(replica);
  }

  exec::StateBlocks state(Replica&) override {
    exec::StateBlocks blocks = exchange_->state();
    // Gradients under way are lost to a strategy that does not know them.
    const bool under_way = std::ranges::any_of(copies_, [](const LaidAside& copy) { return copy.step.index > 0; });
    const auto add = [&](const std::string& name, auto content) {
      blocks.push_back({.name = name, .content = content, .may_drop = false, .in_use = under_way});
    };
    for (std::size_t c = 0; c < copies_.size(); ++c) {
      const std::string name = fmt::format("lagged_gradient_{}", c);
      add(name, exchange_->copy(static_cast<int>(c)));
      optim::Step& step = copies_[c].step;
      add(name + ".index", std::span(&step.index, 1));
      for (const auto& [what, number] : {std::pair(".learning_rate", &step.learning_rate),
                                         {".decay_scale", &step.decay_scale},
                                         {".rate_scale", &step.rate_scale},
                                         {".gradient_scale", &step.gradient_scale},
                                         {".clip_norm", &step.clip_norm}})
        add(name + what, std::span(number, 1));
      add(name + ".undone", std::span(&step.undone, 1));
    }
    return blocks;
  }

  comm::ExchangeCost cost() const override { return exchange_->cost(); }
  std::string describe() const override {
    return fmt::format("lagged by {}: {}", copies_.size(), exchange_->describe());
  }

 private:
  // Sums of earlier steps are lost with a rank.
  static StrategyTraits traits_of(std::int64_t lag, const ExchangeOptions& options) {
    StrategyTraits traits = options.traits();
    traits.recovers = lag == 0;
    return traits;
  }

  template <class Key>
  int first_by(Key key) const {
    return static_cast<int>(std::ranges::min_element(copies_, {}, key) - copies_.begin());
  }

  // Who meets bad numbers has no sums under way.
  template <class Work>
  auto with_no_sums_left_if_bad(Work work) -> decltype(work()) {
    try {
      return work();
    } catch (const NotFinite&) {
      wait_all();
      throw;
    }
  }

  void wait_all() {
    for (LaidAside& copy : copies_) {
      for (int b = 0; b < static_cast<int>(copy.sums.size()); ++b) exchange_->wait(copy.sums, b);
      copy.sums.clear();
    }
  }

  // What was begun earlier is wanted earlier.
  BucketSums start(StepExchange& now, int copy) { return now.sum(copy, -static_cast<int>(begun_++ % 1'000'000)); }

  void copy_gradients(Replica& replica, int c, std::int64_t step) {
    const double bytes = 2.0 * static_cast<double>(replica.gradients().size_bytes());
    replica.timed(laying_aside_, step, bytes, [&] {
      for (const Bucket& bucket : exchange_->buckets(replica).all())
        copy_to(exchange_->copy(c).subspan(bucket.range.begin, bucket.range.count),
                replica.gradients().subspan(bucket.range.begin, bucket.range.count));
    });
  }

  // The oldest first.
  void apply_all(Replica& replica) {
    for (std::size_t i = 0; i < copies_.size(); ++i)
      apply(replica, first_by([](const LaidAside& copy) {
              return copy.step.index > 0 ? copy.step.index : std::numeric_limits<std::int64_t>::max();
            }));
  }

  // What was restored from a checkpoint has no sums to wait for.
  void apply(Replica& replica, int c) {
    if (copies_[static_cast<std::size_t>(c)].step.index == 0) return;
    // Taken away also when it is bad: nobody shall meet it again.
    const LaidAside copy = std::exchange(copies_[static_cast<std::size_t>(c)], {});
    apply(replica, exchange_->copy(c), copy.sums, copy.step, {});
  }

  void apply(Replica& replica, std::span<const float> gradients, const BucketSums& sums, const optim::Step& step,
             const ForwardSummary& summary) {
    updates_.apply(replica, gradients, exchange_->buckets(replica).all(), step, summary,
                   [&](int b) { exchange_->wait(sums, b); });
  }

  ExchangeOptions options_;
  std::optional<Exchange> exchange_;  // once it is open
  Updates updates_;
  std::vector<LaidAside> copies_;
  std::int64_t begun_ = 0;
  Chore laying_aside_{Category::copy, "gradients laid aside"};
};

}  // namespace

extern const Row<Strategy> lagged;
const Row<Strategy> lagged{"lagged", "every rank applies the mean gradient of all ranks of k steps ago",
                           [](Args& args) -> std::unique_ptr<Strategy> {
                             const std::int64_t lag = args.integer("k", 1);
                             args.require(lag >= 0 && lag <= most_copies, "k must lie between 0 and 64");
                             return std::make_unique<Lagged>(lag, read_exchange_options(args));
                           }};

}  // namespace isobar::parallel
