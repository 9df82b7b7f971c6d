#include "isobar/bench/forward_pass.hpp"

#include "isobar/base/clock.hpp"
#include "isobar/bench/made_inputs.hpp"
#include "isobar/zoo/network.hpp"

namespace isobar::bench {

ForwardPass::ForwardPass(const Spec& model, std::int64_t batch) {
  graph::Graph graph;
  zoo::make_network(model)->build(graph, batch);
  graph::Plan plan = graph::make_plan(graph, {.phase = ops::Phase::inference});
  store_ = std::make_unique<exec::ParamStore>(plan, 0);
  store_->initialize(1);
  x_ = made_input(graph, "x");
  samples_.resize(batch);
  executor_ = std::make_unique<exec::Executor>(std::move(plan), *store_);
  executor_->bind("x", x_.span());
}

double ForwardPass::run() {
  const double begin = now_seconds();
  executor_->forward({.samples = samples_});
  return now_seconds() - begin;
}

}  // namespace isobar::bench
