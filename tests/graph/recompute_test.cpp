// Plans that recompute results to fit into memory: they fit, cost what they say, and give the same bits.
#include "isobar/graph/recompute.hpp"

#include <cstring>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/graph/plan.hpp"

namespace isobar::graph {
namespace {

// A chain of equal convolutions, to which the known results on checkpointing apply.
Graph chain(int layers) {
  Graph g;
  ValueId h = g.input("x", {1, 32, 32, 16});
  for (int i = 0; i < layers; ++i)
    h = g.add("relu", g.add("conv(filters=16, kernel=3, padding=same)", h, fmt::format("conv{}", i)));
  h = g.add("global_pool", h);
  h = g.add("dense(units=2)", h, "fc");
  g.output("prediction", h);
  g.loss(g.add("mse", {h, g.input("y", {1, 2})}, "loss"));
  return g;
}

// Normalised convolutions, whose activations are cheap to recompute, and dropout.
Graph normalised() {
  Graph g;
  ValueId h = g.input("x", {2, 24, 24, 64});
  for (int i = 0; i < 4; ++i) {
    h = g.add("conv(filters=64, kernel=3, padding=same, bias=false)", h, fmt::format("conv{}", i));
    h = g.add("relu", g.add("batch_norm", h, fmt::format("norm{}", i)));
    h = g.add("dropout(rate=0.25)", h, fmt::format("dropout{}", i));
  }
  h = g.add("dense(units=2)", g.add("flatten", h), "fc");
  g.output("prediction", h);
  g.loss(g.add("mse", {h, g.input("y", {2, 2})}, "loss"));
  return g;
}

// Plans with oneDNN's kernels only: the workspace of our own kernels would hide the memory of such small layers.
Plan planned(const Graph& graph, std::size_t limit = 0, int weight_copies = 0) {
  return make_plan(graph, {.own_kernels = false, .memory_limit = limit, .weight_copies = weight_copies});
}

constexpr std::size_t layer_bytes = 32 * 32 * 16 * 4;

TEST(Recompute, LeavesAPlanAloneThatFits) {
  const Plan free = planned(chain(6));
  const Plan plan = planned(chain(6), free.arena_bytes);
  EXPECT_EQ(plan.again_steps(), 0u);
  EXPECT_EQ(plan.fingerprint(), free.fingerprint());
  EXPECT_EQ(plan.arena_bytes, free.arena_bytes);
  EXPECT_EQ(plan.kept_arena_bytes, 0u);
}

TEST(Recompute, FitsAnyLimitAboveTheSquareRoot) {
  const Plan free = planned(chain(36));
  ASSERT_GT(free.arena_bytes, 34 * layer_bytes);
  double last = 0;
  for (const std::size_t layers : {32u, 24u, 18u, 16u}) {
    const Plan plan = planned(chain(36), layers * layer_bytes);
    EXPECT_LE(plan.arena_bytes, layers * layer_bytes);
    EXPECT_EQ(plan.kept_arena_bytes, free.arena_bytes);
    EXPECT_GT(plan.again_flops(), last) << "less memory for as much work";
    EXPECT_LE(plan.again_flops(), 0.36 * free.flops()) << "nothing is computed more than once again";
    last = plan.again_flops();
  }
}

TEST(Recompute, UsefulWorkStaysTheSame) {
  const Plan free = planned(chain(12)), plan = planned(chain(12), 9 * layer_bytes);
  EXPECT_GT(plan.again_steps(), 0u);
  EXPECT_EQ(plan.flops(), free.flops());
  EXPECT_EQ(plan.forward_steps, free.forward_steps);
  for (const PlanStep& step : plan.steps) {
    EXPECT_EQ(step.again, step.kernel.ends_with(" again")) << step.name;
    if (step.again) {
      EXPECT_EQ(step.flops, 0);
    }
  }
  EXPECT_GT(plan.again_flops(), 0);
  EXPECT_NE(plan.fingerprint(), free.fingerprint());
}

TEST(Recompute, KeepsTheOrderOfGradients) {
  const Plan free = planned(normalised());
  const Plan plan = planned(normalised(), free.arena_bytes * 3 / 4);
  const auto order = [](const Plan& p) {
    std::vector<std::string> names;
    for (const PlanStep& step : p.steps)
      for (const ParameterId parameter : step.final_parameters) names.push_back(p.parameters[parameter].name);
    return names;
  };
  EXPECT_EQ(order(plan), order(free));
}

TEST(Recompute, PrefersWhatIsCheap) {
  const Plan free = planned(normalised());
  const Plan plan = planned(normalised(), free.arena_bytes * 3 / 4);
  ASSERT_GT(plan.again_steps(), 0u);
  for (const PlanStep& step : plan.steps)
    if (step.again) {
      EXPECT_NE(step.category, Category::forward_convolution) << step.name;
    }
}

TEST(Recompute, NeverWritesAWeightAgain) {
  const Plan free = planned(normalised());
  const Plan plan = planned(normalised(), free.arena_bytes * 7 / 10);
  for (const PlanStep& step : plan.steps)
    for (std::size_t i = step.reads; step.again && i < step.buffers.size(); ++i)
      EXPECT_EQ(plan.buffers[step.buffers[i]].home, Home::arena) << step.name;
}

TEST(Recompute, CountsWeightsAsOftenAsAsked) {
  const Plan free = planned(chain(6), 0, 4);
  EXPECT_EQ(free.memory_bytes(), free.arena_bytes + 4 * free.weight_bytes());
  const Plan plan = planned(chain(6), free.memory_bytes() - 1, 4);
  EXPECT_LT(plan.memory_bytes(), free.memory_bytes());
  EXPECT_GT(plan.again_steps(), 0u);
  EXPECT_THROW(planned(chain(6), 3 * free.weight_bytes(), 4), Error);
}

TEST(Recompute, SaysWhatIsNeededWhenNothingHelps) {
  try {
    planned(normalised(), 60'000);
    FAIL() << "two samples do not fit into 60 kB";
  } catch (const Error& e) {
    for (const char* part : {"does not fit into 60.0 kB", "the least it was found to need", "most is alive at 'conv",
                             "a batch of less than 2"})
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << part << " in: " << e.what();
  }
}

// The memory that the error says is needed is enough, and not much more than needed.
TEST(Recompute, TheLeastThatIsSaidFits) {
  const Plan free = planned(chain(24));
  std::size_t fits = free.arena_bytes;
  for (std::size_t layers = 23; layers > 4; --layers) {
    try {
      fits = planned(chain(24), layers * layer_bytes).arena_bytes;
    } catch (const Error& e) {
      const std::string text = e.what();
      const std::size_t at = text.find(", is ") + 5;
      const double said = std::stod(text.substr(at));
      EXPECT_NE(text.find(" kB", at), std::string::npos) << text;
      EXPECT_NEAR(said * 1000, static_cast<double>(fits), 0.1 * static_cast<double>(fits)) << text;
      return;
    }
  }
  FAIL() << "24 layers fit into 5";
}

TEST(Recompute, TellsOfItself) {
  const std::size_t limit = 9 * layer_bytes;
  const Plan plan = planned(chain(12), limit);
  for (const char* part : {"without computing anything again", "steps are computed again", "more work", "fits into"})
    EXPECT_NE(memory_text(plan, limit).find(part), std::string::npos) << part << "\n" << memory_text(plan, limit);
  EXPECT_NE(plan.table().find("forward again"), std::string::npos);
  const AgainCost cost = again_cost(plan);
  EXPECT_NEAR(cost.work, plan.again_flops() / plan.flops(), 1e-12);
  EXPECT_GT(cost.time, 0);
  EXPECT_LT(cost.time, 0.5);
}

// Buffers that are live at the same time, including copies, do not share bytes.
TEST(Recompute, TheArenaHoldsWhatIsAlive) {
  const Plan plan = planned(chain(20), 12 * layer_bytes);
  const auto live = live_bytes(plan);
  EXPECT_LE(*std::max_element(live.begin(), live.end()), plan.arena_bytes);
  for (const Buffer& b : plan.buffers)
    if (b.home == Home::arena && b.last >= b.first) {
      EXPECT_LE(b.offset + b.bytes, plan.arena_bytes) << b.name;
    }
}

}  // namespace
}  // namespace isobar::graph
