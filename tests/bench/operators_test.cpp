#include "isobar/bench/operators.hpp"

#include <gtest/gtest.h>

#include "isobar/base/row.hpp"

namespace isobar::bench {
namespace {

class Operators : public testing::TestWithParam<const ops::OperatorRow*> {};

TEST_P(Operators, CanBeMeasuredOnTheirProblems) {
  for (const ops::Problem& problem : GetParam()->problems) {
    OperatorRun run(problem);
    const OperatorRun::Times times = run.run();
    EXPECT_EQ(times.forward > 0, run.computes(false)) << problem.spec;
    EXPECT_EQ(times.backward > 0, run.computes(true)) << problem.spec;
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, Operators, testing::ValuesIn(ops::operators().begin(), ops::operators().end()),
                         [](const auto& row) { return std::string(row.param->name); });

TEST(OperatorRun, CountsItsOwnKernelsOnly) {
  const ops::Problem problem{"conv(filters=8, kernel=3, padding=same)", {{1, 8, 8, 16}}};
  const OperatorRun run(problem, {.own_kernels = false});
  EXPECT_TRUE(run.computes(true));
  EXPECT_TRUE(run.primitive(false));
  EXPECT_NEAR(run.flops(false), 2.0 * 8 * 8 * 9 * 16 * 8, 0.1 * run.flops(false));
  EXPECT_GT(run.flops(true), run.flops(false)) << "two gradients";
  EXPECT_GT(run.bytes(false), 4.0 * 8 * 8 * (16 + 8));
  EXPECT_FALSE(OperatorRun({"softmax_cross_entropy", {{4, 3}, {4, 1}}, -1, 1, {0, 3}}).primitive(false));
}

TEST(OperatorRun, RecordsBothDirectionsBesideThePrimitive) {
  const ops::Problem problem{"conv(filters=8, kernel=3, padding=same)", {{1, 8, 8, 16}}};
  const auto records = measure_operator(problem, {{.rounds = 3, .seconds = 1e9}, {}});
  ASSERT_EQ(records.size(), 2u);
  EXPECT_TRUE(records[0].problem.starts_with("forward"));
  EXPECT_TRUE(records[1].problem.starts_with("backward"));
  for (const Record& record : records) {
    EXPECT_EQ(record.entries.size(), 1u) << "ours alone";
    EXPECT_EQ(record.ours().runs, 3);
    EXPECT_GT(record.bare_seconds, 0);
    EXPECT_GT(record.flops, 0);
  }
}

TEST(OperatorRun, ThePeerIsAskedWhatItKnows) {
  Contestant knows({"sh", "-c",
                    "echo ready knowing; while read a b; do case $a in case) echo ok;; forward) echo 2;; backward) "
                    "echo 4;; esac; done"});
  Contestant ignorant({"sh", "-c", "echo ready ignorant; while read a b; do echo none; done"});
  const ops::Problem problem{"relu", {{4, 5}}};
  const auto records = measure_operator(problem, {{.rounds = 3, .seconds = 1e9}, {&knows, &ignorant}});
  ASSERT_EQ(records.size(), 2u);
  ASSERT_EQ(records[0].entries.size(), 2u);
  EXPECT_EQ(records[0].entries[1].name, "knowing");
  EXPECT_EQ(records[0].entries[1].seconds.median, 2);
  EXPECT_EQ(records[1].entries[1].seconds.median, 4);
  EXPECT_GT(records[0].speedup.median, 1);
}

TEST(OperatorProblems, SizesOfNetworksFollowThoseOfTests) {
  const ops::OperatorRow& conv = find(ops::operators(), "conv", "operator");
  EXPECT_GT(operator_problems(conv).size(), conv.problems.size() + 5);
}

}  // namespace
}  // namespace isobar::bench
