#include <algorithm>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/ops/op.hpp"

#include "tests/ops/failure.hpp"

namespace isobar::ops {
namespace {

// Those that talk are tried on several ranks instead (talking_conformance_test.cpp).
TEST(Catalogue, IsSortedAndEveryRowHasProblems) {
  const auto known = names(operators());
  EXPECT_TRUE(std::ranges::is_sorted(known));
  EXPECT_EQ(std::ranges::adjacent_find(known), known.end());
  for (const OperatorRow* row : operators()) {
    EXPECT_FALSE(row->summary.empty()) << row->name;
    for (const Problem& problem : row->problems) EXPECT_EQ(Spec(problem.spec).name(), row->name);
  }
}

TEST(Catalogue, UnknownNamesAndArgumentsAreAnswered) {
  EXPECT_NE(failure([] { make_operator("max_pol"); }).find("max_pool"), std::string::npos);
  EXPECT_NE(failure([] { make_operator("dense(units=3, basis=true)"); }).find("basis"), std::string::npos);
}

}  // namespace
}  // namespace isobar::ops
