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
  double step(Replica& replica, std::span<const Feed> feeds, const optim::Step& step) override {
    batches_.run(replica, feeds, {});
    const optim::Step clipped = clip(replica, replica.all_gradients(), step);
    for (int p = 0; p < replica.parameters(); ++p) replica.update(p, replica.gradient(p), clipped);
    return static_cast<double>(batches_.loss());
  }
  std::string describe() const override { return "solo"; }

 private:
  MicroBatches batches_;
};

}  // namespace

extern const Row<Strategy> solo;
const Row<Strategy> solo{"solo", "one process, nothing to exchange",
                         [](Args&) -> std::unique_ptr<Strategy> { return std::make_unique<Solo>(); }};

}  // namespace isobar::parallel
