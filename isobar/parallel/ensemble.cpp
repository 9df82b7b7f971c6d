// ensemble: every rank trains a network of its own, from initial weights of its own, and none learns from another.
// Together they are judged by the mean of what they predict. Only the loss, and whether something is bad, is summed
// over ranks in each step.
#include "isobar/parallel/own_steps.hpp"

namespace isobar::parallel {
namespace {

class Ensemble final : public Strategy {
 public:
  Ensemble(bool all_samples, ExchangeOptions options)
      : Strategy(traits_of(all_samples, options)), options_(std::move(options)) {}

  StepNeeds needs(const PlannedRank& rank) const override { return {.traffic = options_.needs_of_numbers(rank)}; }
  std::span<float> open(comm::Comm& world, std::size_t gradients, const Care& care) override {
    ranks_ = world.size();
    steps_.emplace(options_, care, world, gradients);
    return steps_->exchange().gradients();
  }

  double step(Replica& replica, std::span<const Feed> feeds, const optim::Step& step) override {
    return steps_->take(replica, feeds, step, [](StepExchange&) {});
  }

  // Nobody else has a member's weights, so that no other number of ranks, and no other strategy, can go on.
  exec::StateBlocks state(Replica& replica) override {
    using Block = exec::StateBlock;
    Block weights{.name = std::string(member_weights),
                  .content = replica.weights(),
                  .scope = Block::Scope::each_rank,
                  .start = Block::Start::required};
    exec::StateBlocks blocks{weights};
    const int slots = static_cast<int>(replica[0].slots.size());
    for (int s = 0; s < slots; ++s) {
      Block slot = weights;
      slot.name = fmt::format("optimizer slot {} of the member", s);
      slot.content = replica.slot(s);
      blocks.push_back(std::move(slot));
    }
    return blocks;
  }
  comm::ExchangeCost cost() const override { return steps_->exchange().cost(); }
  std::string describe() const override {
    return fmt::format("ensemble: {} network{}, each trained on {}", ranks_, ranks_ == 1 ? "" : "s",
                       traits().all_samples ? "all samples in an order of its own" : "its share of the samples");
  }

 private:
  static StrategyTraits traits_of(bool all_samples, const ExchangeOptions& options) {
    StrategyTraits traits = OwnSteps::traits(options);
    traits.members_apart = true;
    traits.all_samples = all_samples;
    return traits;
  }

  ExchangeOptions options_;
  int ranks_ = 1;
  std::optional<OwnSteps> steps_;  // once it is open
};

std::unique_ptr<Strategy> read_ensemble(Args& args) {
  const bool all = args.one_of("data", "all", {"all", "share"}) == "all";
  ExchangeOptions options = read_exchange_options(args);
  args.require(options.reducer.codec->is_plain(), "codec must be float: no gradients are sent");
  args.require(!options.deterministic,
               "deterministic must be false: there are as many networks as ranks, so that another number of ranks has "
               "other results");
  return std::make_unique<Ensemble>(all, std::move(options));
}

}  // namespace

extern const Row<Strategy> ensemble;
const Row<Strategy> ensemble{"ensemble", "every rank trains a network by itself; their predictions are averaged",
                             read_ensemble};

}  // namespace isobar::parallel
