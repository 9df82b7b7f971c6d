#include "isobar/graph/plan.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace isobar::graph {
namespace {

Graph small() {
  Graph g;
  ValueId h = g.input("x", {2, 8, 8, 3});
  h = g.add("conv(filters=8, kernel=3, padding=same)", h, "conv1");
  h = g.add("leaky_relu", h);
  h = g.add("max_pool(window=2)", h);
  h = g.add("conv(filters=4, kernel=3)", h, "conv2");
  h = g.add("flatten", h);
  h = g.add("dense(units=2)", h, "fc");
  g.output("prediction", h);
  g.loss(g.add("mse", {h, g.input("y", {2, 2})}, "loss"));
  return g;
}

std::size_t peak(const IdVector<StepId, std::size_t>& live) { return *std::ranges::max_element(live); }

TEST(LiveBytes, NeverExceedTheArena) {
  const Plan plan = make_plan(small());
  const auto live = live_bytes(plan);
  ASSERT_EQ(live.size(), plan.steps.size());
  EXPECT_LE(peak(live), plan.arena_bytes);
  EXPECT_GT(peak(live), plan.arena_bytes / 2) << "what is never used together shares its bytes";
}

// Counted in another way: for every byte of the arena, whether a live buffer uses it.
TEST(LiveBytes, AreThoseOfBuffersThatLive) {
  for (const bool in_place : {true, false}) {
    const Plan plan = make_plan(small(), {.in_place = in_place});
    const auto live = live_bytes(plan);
    for (const StepId s : plan.steps.ids()) {
      std::vector<bool> used(plan.arena_bytes);
      for (const Buffer& b : plan.buffers)
        if (b.home == Home::arena && b.first <= s && s <= b.last)
          std::fill_n(used.begin() + static_cast<std::ptrdiff_t>(b.offset), b.bytes, true);
      EXPECT_EQ(live[s], static_cast<std::size_t>(std::ranges::count(used, true)))
          << s.number() << " " << plan.steps[s].name;
    }
  }
}

TEST(LiveBytes, WithoutSharingTheArenaIsLarger) {
  const Plan shared = make_plan(small()), apart = make_plan(small(), {.share_memory = false});
  EXPECT_EQ(live_bytes(shared), live_bytes(apart));
  EXPECT_LT(peak(live_bytes(apart)), apart.arena_bytes);
}

}  // namespace
}  // namespace isobar::graph
