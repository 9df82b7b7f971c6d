// gossip: every rank trains a model of its own, and mixes it with those of a few others after every step, or every
// `period` steps; nobody sums over all. The mean of the models is the model. First each rank takes its step, then they
// mix; in pairs (gossip_pairwise.hpp) without waiting for each other.
#include <algorithm>

#include "isobar/base/text.hpp"
#include "isobar/comm/stall_watch.hpp"
#include "isobar/parallel/gossip_pairwise.hpp"
#include "isobar/parallel/gossip_partners.hpp"
#include "isobar/parallel/own_steps.hpp"

namespace isobar::parallel {
namespace {

class Gossip final : public Strategy {
 public:
  Gossip(const GossipKind& kind, std::int64_t period, ExchangeOptions options)
      : Strategy(OwnSteps::traits(options)), options_(std::move(options)), kind_(kind), period_(period) {}

  StepNeeds needs(const PlannedRank& rank) const override {
    // The step's numbers are summed; the gradients are not, and those models travel instead.
    StepNeeds needs = options_.needs(rank, 1, std::numeric_limits<std::int64_t>::max());
    if (rank.circle.size == 1) return needs;
    const auto each = static_cast<std::int64_t>(rank.gradients * sizeof(float));
    needs.traffic.messages += (kind_.sends + period_ - 1) / period_;
    needs.traffic.bytes += (kind_.sends * each + period_ - 1) / period_;
    needs.bytes += kind_.sends * rank.gradients * sizeof(float);
    return needs;
  }
  std::span<float> open(comm::Comm& world, std::size_t gradients, const Care& care) override {
    partners_ = duplicate(world);
    steps_.emplace(options_, care, world, gradients);
    return steps_->exchange().gradients();
  }

  double step(Replica& replica, std::span<const Feed> feeds, const optim::Step& step) override {
    return steps_->take(replica, feeds, step, [&](StepExchange&) {
      apart_ = 1;
      if (step.index % period_ == 0) meet(replica, feeds.front().run.seed, step.index);
    });
  }

  void settle(Replica& replica, Settle until) override {
    if (until == Settle::judged && apart_ > 0) return steps_->judge_by_mean(replica);
    steps_->own().take_back(replica);
    if (until == Settle::updates && apart_ > 0) steps_->average(replica);
  }

  exec::StateBlocks state(Replica& replica) override {
    exec::StateBlocks blocks = steps_->own().state(replica, apart_ > 0);
    blocks.push_back({.name = "whether models differ", .content = std::span(&apart_, 1), .may_drop = true});
    return blocks;
  }
  comm::ExchangeCost cost() const override {
    comm::ExchangeCost cost = steps_->exchange().cost();
    return cost += {waited_seconds_, waited_seconds_, meetings_, partners_->traffic()};
  }
  std::string describe() const override {
    return fmt::format("gossip: {} of {} ranks every {} step{}", kind_.name, partners_->size(), period_,
                       period_ == 1 ? "" : "s");
  }

 private:
  static constexpr int tag = 0;

  void meet(Replica& replica, std::uint64_t seed, std::int64_t step) {
    const Mixing mixing = kind_.mixing({partners_->rank(), partners_->size(), step / period_ - 1, seed});
    const std::span<float> weights = replica.weights();
    while (received_.size() < mixing.from.size()) received_.push_back(comm::message_memory(*partners_, weights.size()));
    exchange_models(mixing, weights);
    ++meetings_;
    const auto own = static_cast<float>(mixing.own), each = static_cast<float>(mixing.each);
    std::vector<std::span<const float>> theirs;
    for (std::size_t i = 0; i < mixing.from.size(); ++i) theirs.emplace_back(received_[i]->mine());
    const double bytes = static_cast<double>(weights.size_bytes()) * static_cast<double>(2 + theirs.size());
    replica.timed(mixing_, step, bytes, [&] {
      in_parts(weights.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          float sum = 0;
          for (const std::span<const float> model : theirs) sum += model[i];
          weights[i] = own * weights[i] + each * sum;
        }
      });
    });
  }

  void exchange_models(const Mixing& mixing, std::span<const float> weights) {
    const double begin = partners_->now();
    std::vector<comm::Ticket> open;
    std::vector<int> whose;
    for (std::size_t i = 0; i < mixing.from.size(); ++i) {
      open.push_back(partners_->start_receive(mixing.from[i], tag, std::as_writable_bytes(received_[i]->mine())));
      whose.push_back(mixing.from[i]);
    }
    for (const int to : mixing.to) {
      open.push_back(partners_->start_send(to, tag, std::as_bytes(weights)));
      whose.push_back(to);
    }
    const std::string what = "models of other ranks";
    for (std::size_t i = 0; i < open.size(); ++i) {
      comm::StallWatch watch(*partners_, options_.reducer, what);
      while (!open[i].wait_for(0.2)) watch.look([&] { return std::vector{whose[i]}; });
    }
    waited_seconds_ += partners_->now() - begin;
  }

  ExchangeOptions options_;
  const GossipKind& kind_;
  std::int64_t period_;
  std::unique_ptr<comm::Comm> partners_;
  std::optional<OwnSteps> steps_;  // once it is open
  std::vector<std::unique_ptr<comm::GradientMemory>> received_;
  std::int64_t apart_ = 0, meetings_ = 0;
  double waited_seconds_ = 0;
  Chore mixing_{Category::optimizer, "mixing of models"};
};

std::unique_ptr<Strategy> read_gossip(Args& args) {
  const std::string name = args.text("kind", "ring");
  std::vector<std::string> valid;
  for (const GossipKind& kind : gossip_kinds()) valid.emplace_back(kind.name);
  valid.insert(std::ranges::find(valid, "pull"), "pairwise");
  const auto kind = std::ranges::find(gossip_kinds(), name, &GossipKind::name);
  const bool in_pairs = name == "pairwise";
  args.require(in_pairs || kind != gossip_kinds().end(), fmt::format("kind must be one of {}", join(valid, ", ")));
  const std::int64_t period = args.integer("period", 1);
  args.require(period >= 1 && period <= 1'000'000, "period must lie between 1 and 1000000 steps");
  ExchangeOptions options = read_exchange_options(args);
  args.require(options.reducer.codec->is_plain(), "codec must be float: models are mixed as they are");
  args.require(!in_pairs || !options.deterministic,
               "deterministic needs ranks that take their steps together; in pairs each goes at its own pace");
  if (in_pairs) return gossip_in_pairs(period, options);
  return std::make_unique<Gossip>(*kind, period, std::move(options));
}

}  // namespace

extern const Row<Strategy> gossip;
const Row<Strategy> gossip{"gossip", "every rank trains its own model, and mixes it with those of a few other ranks",
                           read_gossip};

}  // namespace isobar::parallel
