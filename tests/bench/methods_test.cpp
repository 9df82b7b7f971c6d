#include <algorithm>

#include <gtest/gtest.h>

#include "isobar/bench/operators.hpp"

namespace isobar::bench {
namespace {

TEST(Methods, AConvolutionIsComputedInSeveralWaysInEveryDirection) {
  const auto records = measure_methods("conv(filters=8, kernel=3, padding=same)", {1, 8, 8, 16}, 2);
  const auto with = [&](const char* begin) {
    return std::count_if(records.begin(), records.end(), [&](const Record& r) { return r.problem.starts_with(begin); });
  };
  for (const char* direction : {"forward by", "data gradient by", "weight gradient by"})
    EXPECT_GE(with(direction), 2) << direction;
  EXPECT_EQ(with("forward by direct"), 1);
  for (const Record& record : records) {
    EXPECT_EQ(record.ours().runs, 2) << record.problem;
    EXPECT_GT(record.ours().seconds.median, 0) << record.problem;
    EXPECT_GT(record.flops, 0) << record.problem;
    EXPECT_EQ(record.facts.at(0).first, "work, GF");
  }
}

TEST(Methods, OtherOperatorsHaveNone) { EXPECT_TRUE(measure_methods("relu", {4, 5}, 2).empty()); }

}  // namespace
}  // namespace isobar::bench
