// Every network, shrunken, with a memory limit: losses, gradients and running statistics have the same bits as without.
#include "isobar/graph/recompute.hpp"

#include <cstring>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

#include "tests/zoo/shrunken.hpp"
#include "tests/zoo/trial.hpp"

namespace isobar::zoo {
namespace {

struct Trail {
  std::vector<double> losses;
  std::vector<std::vector<float>> numbers;  // gradients, then weights
  bool operator==(const Trail&) const = default;
};

Trail trained(const graph::Graph& graph, const Spec& loss, std::int64_t tokens, const graph::PlanOptions& options) {
  Trial trial(graph, loss, tokens, options);
  Trail trail;
  for (int step = 0; step < 2; ++step) {
    trail.losses.push_back(trial.backward());
    for (int p = 0; p < trial.store().count(); ++p) {
      const std::span<float> gradient = trial.store().gradient(p), weight = trial.store().weight(p);
      trail.numbers.emplace_back(gradient.begin(), gradient.end());
      for (std::size_t i = 0; trial.store().parameter(p).declared.trained && i < weight.size(); ++i)
        weight[i] -= 0.01f * gradient[i];
    }
  }
  for (int p = 0; p < trial.store().count(); ++p)
    trail.numbers.emplace_back(trial.store().weight(p).begin(), trial.store().weight(p).end());
  return trail;
}

// The least memory for which a plan is found, by requesting less and less.
std::size_t least_memory(const graph::Graph& graph, std::size_t arena) {
  std::size_t least = arena;
  for (const std::size_t tenths : {8u, 6u, 4u}) {
    try {
      least = graph::make_plan(graph, {.memory_limit = arena * tenths / 10}).arena_bytes;
    } catch (const Error&) {
      break;
    }
  }
  return least;
}

void expect_same_bits(const std::string& spec, std::int64_t tokens, bool must_shrink) {
  const auto network = make_network(spec);
  const graph::Graph graph = training_graph(*network, shrunken_batch);
  const std::size_t arena = graph::make_plan(graph).arena_bytes, least = least_memory(graph, arena);
  if (must_shrink) {
    EXPECT_LT(least, arena * 9 / 10);
  }
  const Trail free = trained(graph, network->loss(), tokens, {});
  for (const std::size_t limit : {(arena + least) / 2, least}) {
    const Trail tight = trained(graph, network->loss(), tokens, {.memory_limit = limit});
    EXPECT_EQ(tight.losses, free.losses) << "within " << limit << " of " << arena;
    ASSERT_EQ(tight.numbers.size(), free.numbers.size());
    for (std::size_t i = 0; i < free.numbers.size(); ++i)
      ASSERT_EQ(std::memcmp(tight.numbers[i].data(), free.numbers[i].data(), 4 * free.numbers[i].size()), 0)
          << "array " << i << " within " << limit << " of " << arena;
  }
}

class RecomputedNetwork : public testing::TestWithParam<Shrunken> {};

TEST_P(RecomputedNetwork, HasTheSameBits) { expect_same_bits(GetParam().spec, GetParam().tokens, false); }

INSTANTIATE_TEST_SUITE_P(Zoo, RecomputedNetwork, testing::ValuesIn(shrunken));

TEST(Recomputed, NetworksWithDropoutHaveTheSameBits) {
  expect_same_bits("tiramisu(height=64, width=96, channels=3, filters=8, growth=4, kernel=3, blocks=[2, 1, 2])", 0,
                   true);
  expect_same_bits("googlenet(size=95, classes=5, scale=0.125, auxiliary=false)", 0, true);
  expect_same_bits("deeplabv3plus(height=64, width=96, channels=3, scale=0.0625, units=[2, 1, 1, 1], batch_norm=true)",
                   0, true);
}

}  // namespace
}  // namespace isobar::zoo
