#include "isobar/exec/executor.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/base/random.hpp"

namespace isobar::exec {
namespace {

// A network in which one value feeds several branches, so that gradients are summed and views meet in-place kernels;
// and a concat of a concat, whose branches read their gradients among the channels.
graph::Graph branching() {
  graph::Graph g;
  graph::ValueId h = g.input("x", {2, 6, 6, 4});
  h = g.add("conv(filters=16, kernel=3, padding=same)", h, "conv1");
  const graph::ValueId a = g.add("relu", h);
  const graph::ValueId b = g.add("conv(filters=16, kernel=3, padding=same)", a, "conv2");
  const graph::ValueId sum = g.add("add", {a, b, g.add("tanh", a)});
  const graph::ValueId both = g.add("concat", {sum, a});
  const graph::ValueId more = g.add("relu", g.add("conv(filters=8, kernel=1)", both, "conv3"));
  const graph::ValueId all = g.add("concat", {both, more, g.add("leaky_relu(slope=0.2)", b)});
  const graph::ValueId flat = g.add("flatten", g.add("max_pool(window=2)", all));
  const graph::ValueId y = g.add("dense(units=3)", g.add("dropout(rate=0.25)", flat), "fc");
  g.output("prediction", y);
  g.loss(g.add("mse", {y, g.input("y", {2, 3})}, "loss"));
  return g;
}

struct Ran {
  std::vector<float> gradients, prediction;
  float loss;
  double sum_of_all = 0;
};

Ran run(const graph::PlanOptions& options) {
  const graph::Plan plan = graph::make_plan(branching(), options);
  const auto arena = std::make_shared<Block>(plan.arena_bytes);
  ParamStore store(plan, 0, arena_gradients(plan, *arena));
  store.initialize(3);
  Executor executor(plan, store, nullptr, arena);
  executor.poison();
  std::vector<float> x(2 * 6 * 6 * 4), y(6);
  const Random random(5);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(random.uniform(i)) - 0.5f;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(random.sub(1).uniform(i));
  executor.bind("x", x);
  executor.bind("y", y);
  const std::vector<std::int64_t> samples{4, 9};
  const Run run{.seed = 11, .samples = samples};
  executor.forward(run);
  Ran ran;
  const auto prediction = executor.output("prediction");
  ran.prediction.assign(prediction.begin(), prediction.end());
  ran.loss = executor.output("loss")[0];
  std::vector<int> order;
  executor.backward(run, [&](int p) { order.push_back(p); });
  EXPECT_EQ(static_cast<int>(order.size()), store.count());
  EXPECT_TRUE(executor.damaged_guards().empty());
  for (int p = 0; p < store.count(); ++p) {  // plain order, whatever layout the plan chose
    std::vector<float> plain_values(static_cast<std::size_t>(store.parameter(p).declared.shape.count()));
    store.read_plain(p, store.gradient(p), plain_values);
    ran.gradients.insert(ran.gradients.end(), plain_values.begin(), plain_values.end());
  }
  for (const float number : store.all_gradients()) ran.sum_of_all += std::abs(static_cast<double>(number));
  return ran;
}

void expect_near(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5f + 1e-4f * std::abs(a[i])) << i;
}

TEST(Executor, MemoryPlanChangesNoBit) {
  const Ran shared = run({}), apart = run({.share_memory = false, .in_place = false, .guard_bytes = 256});
  EXPECT_EQ(shared.loss, apart.loss);
  EXPECT_EQ(shared.prediction, apart.prediction);
  EXPECT_EQ(shared.gradients, apart.gradients);
  EXPECT_TRUE(std::isfinite(shared.loss));
}

TEST(Executor, GradientsInTheArenaChangeNoBit) {
  const Ran apart = run({}), inside = run({.gradients_in_arena = true});
  EXPECT_EQ(inside.loss, apart.loss);
  EXPECT_EQ(inside.gradients, apart.gradients);
  EXPECT_EQ(inside.sum_of_all, apart.sum_of_all) << "what lies between gradients is zero";
  const graph::Plan with = graph::make_plan(branching(), {.gradients_in_arena = true});
  const graph::Plan without = graph::make_plan(branching());
  EXPECT_LT(with.arena_bytes, without.arena_bytes + without.weight_bytes());
  EXPECT_GE(with.arena_bytes, with.gradient_offset + with.weight_bytes());
}

TEST(Executor, PassesAndOwnKernelsChangeRoundingOnly) {
  const Ran best = run({});
  for (const graph::PlanOptions& options : {graph::PlanOptions{.without = {"fuse_pointwise", "pool_before_activation"}},
                                            graph::PlanOptions{.own_kernels = false}}) {
    const Ran other = run(options);
    EXPECT_NEAR(best.loss, other.loss, 1e-5f);
    expect_near(best.gradients, other.gradients);
  }
}

TEST(Executor, FrozenWeightsGetNoGradientButTheirBiasDoes) {
  graph::Graph g;
  const graph::ValueId x = g.input("x", {1, 4, 4, 2});
  ops::Parameter frozen{"w", {16, 2, 3, 3}, "gaussian(std=0.1)"};
  frozen.trained = false;
  const graph::ValueId h = g.add("conv(filters=16, kernel=3)", {x, g.parameter("kept", frozen)}, "conv");
  g.output("prediction", h);
  g.loss(g.add("mse", {h, g.input("y", {1, 2, 2, 16})}, "loss"));
  const graph::Plan plan = graph::make_plan(g);
  ParamStore store(plan, 0);
  store.initialize(1);
  Executor executor(plan, store);
  const std::vector<float> xs(32, 1.0f), ys(64, 3.0f);
  executor.bind("x", xs);
  executor.bind("y", ys);
  executor.forward({});
  std::vector<int> ready;
  executor.backward({}, [&](int p) { ready.push_back(p); });
  EXPECT_EQ(ready, (std::vector<int>{store.find("conv.b")}));
  EXPECT_NE(store.gradient(store.find("conv.b"))[0], 0.0f);
  EXPECT_EQ(store.gradient(store.find("kept"))[0], 0.0f);
}

// If ranks talk, a rank without samples also runs.
TEST(Executor, BatchWithoutRowsHasNeitherLossNorGradient) {
  graph::Graph g;
  graph::ValueId h = g.add("conv(filters=4, kernel=3)", g.input("x", {2, 4, 4, 2}), "conv");
  h = g.add("dense(units=3)", g.add("flatten", g.add("relu", g.add("batch_norm", h, "norm"))), "fc");
  g.output("prediction", h);
  g.loss(g.add("mse", {h, g.input("y", {2, 3})}, "loss"));
  const graph::Plan plan = graph::make_plan(g);
  ParamStore store(plan, 0);
  store.initialize(1);
  Executor executor(plan, store);
  const std::vector<float> xs(64, 0.5f), ys(6, 1.0f);
  executor.bind("x", xs);
  executor.bind("y", ys);
  const exec::Run feed{.rows = 0};
  executor.forward(feed);
  EXPECT_EQ(executor.output("loss")[0], 0);
  executor.backward(feed);
  for (const float v : store.all_gradients()) EXPECT_EQ(v, 0);
  for (const float v : store.weight(store.find("norm.mean"))) EXPECT_EQ(v, 0);
}

TEST(Executor, RefusesInputsThatDoNotFit) {
  const graph::Plan plan = graph::make_plan(branching());
  ParamStore store(plan, 0);
  Executor executor(plan, store);
  std::vector<float> few(7);
  EXPECT_THROW(executor.bind("x", few), Error);
  EXPECT_THROW(executor.bind("z", few), Error);
}

TEST(Executor, ReportsEveryKernelToTheTrace) {
  const graph::Plan plan = graph::make_plan(branching());
  ParamStore store(plan, 0);
  store.initialize(1);
  Trace trace;
  Executor executor(plan, store, &trace);
  const std::vector<float> x(2 * 6 * 6 * 4, 0.5f), y(6);
  executor.bind("x", x);
  executor.bind("y", y);
  const std::vector<std::int64_t> samples{0, 1};
  executor.forward({.step = 4, .samples = samples});
  executor.backward({.step = 4, .samples = samples});
  const double dense = 2.0 * 2 * 3 * 504;  // dense layers count as convolutions of one position
  const double third = 2.0 * 2 * 36 * 32 * 8;
  EXPECT_EQ(trace.total(Category::forward_convolution).events, 4);
  EXPECT_EQ(trace.total(Category::forward_convolution).flops, 2.0 * 2 * 36 * 9 * 16 * (4 + 16) + third + dense);
  EXPECT_EQ(trace.total(Category::backward_convolution).flops,
            2.0 * 2 * 36 * 9 * 16 * (4 + 16 + 16) + 2 * third + 2 * dense);
  EXPECT_EQ(trace.events().front().step, 4);
  EXPECT_GT(trace.total(Category::backward_pointwise).bytes, 0);
}

TEST(ParamStore, KeepsPlainValuesThroughAnyLayout) {
  const graph::Plan plan = graph::make_plan(branching());
  ParamStore store(plan, 2);
  const int p = store.find("conv2.w");
  ASSERT_GE(p, 0);
  std::vector<float> values(static_cast<std::size_t>(store.parameter(p).declared.shape.count())), back(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  store.write_plain(p, values, store.weight(p));
  store.read_plain(p, store.weight(p), back);
  EXPECT_EQ(values, back);
  EXPECT_EQ(store.find("nothing"), -1);
}

TEST(ParamStore, InitialisesByNameNotByOrder) {
  const graph::Plan training = graph::make_plan(branching());
  const graph::Plan inference = graph::make_plan(branching(), {.phase = ops::Phase::inference});
  ParamStore a(training, 0), b(inference, 0);
  a.initialize(7);
  b.initialize(7);
  for (const char* name : {"conv1.w", "conv2.w", "fc.w"}) {
    std::vector<float> left(static_cast<std::size_t>(a.parameter(a.find(name)).declared.shape.count())),
        right(left.size());
    a.read_plain(a.find(name), a.weight(a.find(name)), left);
    b.read_plain(b.find(name), b.weight(b.find(name)), right);
    EXPECT_EQ(left, right) << name;
  }
}

}  // namespace
}  // namespace isobar::exec
