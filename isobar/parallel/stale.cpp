// stale: parameter servers with bounded staleness (SSP, Ho et al. 2013). Before its step c a worker must see the
// updates of all workers up to their step c - bound: a quick worker is that far ahead of the slowest at most. The
// gradient of each worker, the mean of its own samples, is applied as it comes with the rate divided by the number of
// workers, so that bound = 0 is what all would do together.
#include "isobar/parallel/served_parts.hpp"

namespace isobar::parallel {

Between read_stale(Args& args) {
  const std::int64_t bound = args.integer("bound", 3);
  args.require(bound >= 0 && bound <= 1'000'000, "bound must lie between 0 and 1000000 steps");
  return {"stale", comm::Pace::bounded, [=] { return apply_by_clocks(bound); },
          [](TeamLine& line) { return push_gradients(line, 1); }};
}

extern const Row<Strategy> stale;
const Row<Strategy> stale{"stale", "as async, but no worker gets more than a number of steps ahead of the slowest",
                          [](Args& args) -> std::unique_ptr<Strategy> {
                            const ServedOptions options = read_served_options(args);
                            return serve_teams("stale", 1, make(strategies(), "solo", "strategy"), read_stale(args),
                                               options);
                          }};

}  // namespace isobar::parallel
