// solo: one rank alone. Weights are updated after the whole backward pass, because a layer's data gradient still reads
// the weights after its weight gradient is final. Deterministic, it adds micro-batches as all ranks together would.
#include "isobar/parallel/micro_batches.hpp"
#include "isobar/parallel/updates.hpp"

namespace isobar::parallel {
namespace {

class Solo final : public Strategy {
 public:
  explicit Solo(bool deterministic)
      // Then running statistics wait in their memory during the backward pass.
      : Strategy({.gradients_in_arena = !deterministic, .nests = true}),
        deterministic_(deterministic),
        batches_(deterministic ? PartialSums::Order::balanced : PartialSums::Order::running) {}

  Roles roles(int ranks) const override {
    if (ranks > 1)
      fail_usage("strategy 'solo' exchanges nothing, but there are {} ranks; 'sync' trains one model on all of them",
                 ranks);
    return Strategy::roles(ranks);
  }
  std::span<float> open(comm::Comm& world, std::size_t, const Care& care) override {
    roles(world.size());
    finite_ = care.finite;
    updates_ = Updates(care);
    return {};
  }
  double step(Replica& replica, std::span<const Feed> feeds, const optim::Step& step) override {
    const StepGuard guard(start_, replica);
    batches_.run(replica, feeds, {});
    if (deterministic_) take_statistics(replica);
    const ForwardSummary summary{static_cast<double>(batches_.loss()),
                                 static_cast<double>(finite_ ? spoilt_statistics(replica) : 0)};
    const Bucket all{0, replica.count(), {0, replica.gradients().size()}};
    updates_.apply(replica, replica.gradients(), {&all, 1}, step, summary, [](int) {});
    return summary.loss;
  }
  std::string describe() const override { return "solo"; }

 private:
  bool deterministic_, finite_ = true;
  Updates updates_;
  StepStart start_;
  MicroBatches batches_;
};

}  // namespace

extern const Row<Strategy> solo;
const Row<Strategy> solo{"solo", "one process, nothing to exchange", [](Args& args) -> std::unique_ptr<Strategy> {
                           // Both only where they are named, so that the recipe of a run stays as short as it always
                           // was.
                           const bool deterministic = args.has("deterministic") && args.flag("deterministic", false);
                           args.require(!args.has("codec") || args.spec("codec").name() == "float",
                                        "codec must be float: one process sends nothing that could be encoded");
                           return std::make_unique<Solo>(deterministic);
                         }};

}  // namespace isobar::parallel
