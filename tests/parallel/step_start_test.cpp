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
  for (int p = 0; p < 4; ++p) std::ranges::fill(replica.weight(p), static_cast<float>(p));
  start.keep(replica);
  for (int p = 0; p < 4; ++p) std::ranges::fill(replica.weight(p), 9.0f);
  start.put_back(replica);
  for (int p = 0; p < 4; ++p)
    for (const float weight : replica.weight(p)) EXPECT_EQ(weight, replica.trained(p) ? 9.0f : static_cast<float>(p));
}

}  // namespace
}  // namespace isobar::parallel
