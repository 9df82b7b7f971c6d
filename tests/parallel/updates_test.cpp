#include "isobar/parallel/updates.hpp"

#include <omp.h>

#include <gtest/gtest.h>

#include "isobar/base/random.hpp"

#include "tests/parallel/plain_replica.hpp"

namespace isobar::parallel::trials {
namespace {

double clip_factor(Replica& replica, double norm, double scale = 1) {
  return Updates().clipped(replica, replica.gradients(), {.gradient_scale = scale, .clip_norm = norm}).gradient_scale;
}

TEST(Clip, ShortensToTheNormOfAllTrainedGradients) {
  PlainReplica replica({{2}, {1, false}, {1}});
  replica[0].gradient[0] = 2;
  replica[0].gradient[1] = 3;
  replica[1].gradient[0] = 100;  // of a running statistic: no gradient
  replica[2].gradient[0] = 6;
  EXPECT_DOUBLE_EQ(clip_factor(replica, 3.5), 0.5);
  EXPECT_EQ(clip_factor(replica, 7), 1);
  EXPECT_EQ(clip_factor(replica, 8), 1);
  EXPECT_EQ(clip_factor(replica, 0), 1);
  EXPECT_DOUBLE_EQ(clip_factor(replica, 3.5, 4), 0.5);
}

TEST(Clip, LeavesZerosAndWhatIsNotFiniteAlone) {
  PlainReplica replica({{2, true}});
  EXPECT_EQ(clip_factor(replica, 1), 1);
  replica[0].gradient[0] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(clip_factor(replica, 1), 1);
}

TEST(Clip, DoesNotDependOnTheNumberOfThreads) {
  PlainReplica replica({{100'003}, {7}, {40'000}});
  for (std::size_t i = 0; i < replica.gradients().size(); ++i)
    replica.gradients()[i] = static_cast<float>(Random(5).uniform(i) - 0.5);
  const int threads = omp_get_max_threads();
  std::vector<double> factors;
  for (const int count : {1, 2, 5}) {
    omp_set_num_threads(count);
    factors.push_back(clip_factor(replica, 0.1));
  }
  omp_set_num_threads(threads);
  EXPECT_EQ(factors, std::vector<double>(3, factors[0]));
}

}  // namespace
}  // namespace isobar::parallel::trials
