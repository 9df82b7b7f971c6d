#include "isobar/parallel/step_start.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/parallel/plain_replica.hpp"

namespace isobar::parallel {
namespace {

TEST(StepStarts, PutBackWhatIsNotTrainedAndNothingElse) {
  trials::PlainReplica replica({{3}, {2, false}, {4}, {1, false}});
  StepStart start;
  start.put_back(replica);  // nothing was kept
  for (int p = 0; p < 4; ++p) std::ranges::fill(replica[p].weight, static_cast<float>(p));
  start.keep(replica);
  for (int p = 0; p < 4; ++p) std::ranges::fill(replica[p].weight, 9.0f);
  start.put_back(replica);
  for (int p = 0; p < 4; ++p)
    for (const float weight : replica[p].weight) EXPECT_EQ(weight, replica[p].trained ? 9.0f : static_cast<float>(p));
}

TEST(StepGuards, PutBackWhenAnExceptionEndsTheStepAndNotOtherwise) {
  trials::PlainReplica replica({{3}, {2, false}});
  StepStart start;
  const auto take_step = [&](bool fails) {
    const StepGuard guard(start, replica);
    std::ranges::fill(replica[1].weight, 9.0f);
    if (fails) fail("in the middle of a step");
  };
  EXPECT_THROW(take_step(true), Error);
  EXPECT_EQ(replica[1].weight[0], 0.0f);
  take_step(false);
  EXPECT_EQ(replica[1].weight[0], 9.0f);
}

}  // namespace
}  // namespace isobar::parallel
