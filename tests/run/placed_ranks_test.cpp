// What is said of ranks beforehand: known numbers of a small network.
#include "isobar/run/placed_ranks.hpp"

#include <gtest/gtest.h>

#include "isobar/base/config.hpp"
#include "isobar/run/models.hpp"

namespace isobar::run {
namespace {

train::Job job_with(const std::string& strategy) {
  Spec recipe = parse_recipe(R"toml(
model = "lenet"
optimizer = "sgd(lr=0.01, momentum=0.9)"
[data]
train = "noise(shape=[28, 28, 1], targets=1, count=24, seed=1)"
batch = 8
[parallel]
)toml",
                             "test");
  apply_setting(recipe, "parallel.strategy=" + strategy);
  return read_job(recipe, "test");
}

// Of all numbers a rank of a ring sends (P - 1) / P twice.
TEST(PlacedRanks, ARingSendsWhatItsFormulaSays) {
  const train::Job job = job_with("sync(algorithm=ring, bucket_mb=1000)");
  const PlacedRanks placed = place_ranks(job, 4, 1);
  ASSERT_EQ(placed.kinds.size(), 1u);
  const KindOfRank& kind = placed.kinds[0];
  EXPECT_EQ(kind.ranks, (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(kind.placement.shares, 4);
  EXPECT_EQ(placed.batching.rows, 2);
  EXPECT_EQ(placed.steps_per_epoch, 3);
  const double numbers = 431'080;  // of LeNet's weights, without padding, which depends on the processor
  EXPECT_NEAR(static_cast<double>(kind.traffic.bytes), 2 * 0.75 * 4 * numbers, 0.05 * 6 * numbers);
}

TEST(PlacedRanks, CodecsAndLagChangeBytesAndMemory) {
  const KindOfRank exact = place_ranks(job_with("sync(algorithm=ring)"), 4, 1).kinds[0];
  const KindOfRank half = place_ranks(job_with("sync(algorithm=ring, codec=bf16)"), 4, 1).kinds[0];
  const KindOfRank sparse = place_ranks(job_with("sync(codec=topk(share=0.01))"), 4, 1).kinds[0];
  const KindOfRank lagged = place_ranks(job_with("lagged(k=3, algorithm=ring)"), 4, 1).kinds[0];
  EXPECT_NEAR(static_cast<double>(half.traffic.bytes) / static_cast<double>(exact.traffic.bytes), 0.5, 0.001);
  EXPECT_LT(sparse.traffic.bytes, exact.traffic.bytes / 15);
  EXPECT_EQ(lagged.traffic.bytes, exact.traffic.bytes);
  const std::size_t gradients = (lagged.memory_bytes - exact.memory_bytes) / 3;
  EXPECT_NEAR(static_cast<double>(gradients), 4 * 431'080.0, 0.05 * 4 * 431'080);
  EXPECT_EQ(sparse.memory_bytes, exact.memory_bytes + 2 * gradients) << "what is lost, and what the step loses";
  EXPECT_EQ(place_ranks(job_with("solo"), 1, 1).kinds[0].traffic.bytes, 0);
}

}  // namespace
}  // namespace isobar::run
