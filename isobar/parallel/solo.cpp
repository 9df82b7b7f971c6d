// solo: one rank alone. Weights are updated after the whole backward pass, because a layer's data gradient still reads
// the weights after its weight gradient is final.
#include "isobar/parallel/strategy.hpp"

namespace isobar::parallel {
namespace {

class Solo final : public Strategy {
 public:
  void step(Replica& replica, const Feed& feed, const optim::Step& step) override {
    replica.forward(feed);
    replica.backward(feed, {});
    for (int p = 0; p < replica.parameters(); ++p) replica.update(p, replica.gradient(p), step);
  }
};

}  // namespace

extern const Row<Strategy> solo;
const Row<Strategy> solo{"solo", "one process, nothing to exchange",
                         [](Args&) -> std::unique_ptr<Strategy> { return std::make_unique<Solo>(); }};

}  // namespace isobar::parallel
