// solo: one rank alone. Weights are updated after the whole backward pass, because a layer's data gradient still reads
// the weights after its weight gradient is final.
#include "isobar/parallel/clip.hpp"
#include "isobar/parallel/micro_batches.hpp"
#include "isobar/parallel/strategy.hpp"

namespace isobar::parallel {
namespace {

class Solo final : public Strategy {
 public:
  std::span<float> open(comm::Comm& world, std::size_t) override {
    if (world.size() > 1)
      fail_usage("strategy 'solo' exchanges nothing, but there are {} ranks; 'sync' trains one model on all of them",
                 world.size());
    return {};
  }
  void take_care(const Care& care) override { care_ = care; }
  double step(Replica& replica, std::span<const Feed> feeds, const optim::Step& step) override {
    start_.keep(replica);
    batches_.run(replica, feeds, {});
    const auto loss = static_cast<double>(batches_.loss());
    FiniteSearch search(care_.finite);
    search.look_at_loss(loss, static_cast<double>(care_.finite ? spoilt_statistics(replica) : 0));
    search.look(replica, replica.all_gradients(), 0, replica.parameters(), step.index);
    search.raise();
    const optim::Step clipped = clip(replica, replica.all_gradients(), step);
    for (int p = 0; p < replica.parameters(); ++p) replica.update(p, replica.gradient(p), clipped);
    return loss;
  }
  void undo(Replica& replica) override { start_.put_back(replica); }
  bool recovers() const override { return true; }
  std::string describe() const override { return "solo"; }

 private:
  Care care_;
  StepStart start_;
  MicroBatches batches_;
};

}  // namespace

extern const Row<Strategy> solo;
const Row<Strategy> solo{"solo", "one process, nothing to exchange",
                         [](Args&) -> std::unique_ptr<Strategy> { return std::make_unique<Solo>(); }};

}  // namespace isobar::parallel
