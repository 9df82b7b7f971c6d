// A program of your own on Isobar's libraries: builds a small network, trains it on noise it can memorise, and says how
// far the loss fell. Everything it uses is installed by `cmake --install`.
#include <fmt/format.h>

#include "isobar/base/error.hpp"
#include "isobar/exec/executor.hpp"
#include "isobar/feeding/loader.hpp"
#include "isobar/parallel/strategy.hpp"

using namespace isobar;

namespace {

graph::Graph network(std::int64_t batch) {
  graph::Graph graph;
  graph::ValueId h = graph.input("x", {batch, 8, 8, 2});
  h = graph.add("conv(filters=16, kernel=3, padding=same)", h, "stem");
  h = graph.add("leaky_relu(slope=0.1)", h);
  h = graph.add("max_pool(window=2)", h);
  h = graph.add("flatten", h);
  h = graph.add("dense(units=3)", h, "head");
  graph.output("prediction", h);
  graph.loss(graph.add("mse", {h, graph.input("y", {batch, 3})}));
  return graph;
}

void train() {
  const std::int64_t batch = 4, epochs = 30;
  const graph::Plan plan = graph::make_plan(network(batch));
  const auto rule = make(optim::optimizers(), "adam(lr=0.005)", "optimizer");
  exec::ParamStore store(plan, rule->slots());
  store.initialize(1);
  exec::Executor executor(plan, store);
  parallel::ComputedReplica replica(executor, store, *rule, nullptr);
  const auto strategy = make(parallel::strategies(), "solo", "strategy");

  const auto samples = datasets::make_dataset("noise(shape=[8, 8, 2], targets=3, count=16)");
  feeding::Loader loader(*samples, datasets::Sampler{.count = samples->size(), .batch = batch});
  double first = 0, last = 0;
  std::int64_t step = 0;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    while (const feeding::Batch* b = loader.next()) {
      const parallel::Feed feeds[] = {{{{"x", b->fields[0].span()}, {"y", b->fields[1].span()}},
                                       {.epoch = epoch, .samples = b->samples, .rows = b->count}}};
      last = strategy->step(replica, feeds, {++step, rule->base_rate()});
      if (step == 1) first = last;
    }
  }
  fmt::print("{} parameters, {} steps: loss {:.3f} -> {:.3f}\n", plan.parameter_count(), step, first, last);
  if (!(last < first / 4)) fail("the network did not learn: loss {} after {}", last, first);
}

}  // namespace

int main() {
  try {
    train();
    return 0;
  } catch (const Error& e) {
    fmt::print(stderr, "outside: {}\n", e.what());
    return 1;
  }
}
