#include "isobar/bench/compare.hpp"

#include <gtest/gtest.h>

#include "tests/bench/made_record.hpp"

namespace isobar::bench {
namespace {

using tests::made_record;

Change change(const Record& before, const Record& now, double threshold = 0.05) {
  return compare_records({before}, {now}, threshold).rows.at(0).change;
}

TEST(Compare, FindsWhatChangedBeyondTheNoise) {
  const Record before = made_record("hep", 1.0, 0.95, 1.05);
  EXPECT_EQ(change(before, made_record("hep", 1.3, 1.25, 1.35)), Change::slower);
  EXPECT_EQ(change(before, made_record("hep", 0.8, 0.75, 0.85)), Change::faster);
  EXPECT_EQ(change(before, made_record("hep", 1.3, 1.04, 1.6)), Change::none) << "the intervals touch";
  EXPECT_EQ(change(made_record("hep", 1, 1, 1), made_record("hep", 1.04, 1.04, 1.04)), Change::none)
      << "less than the threshold";
  EXPECT_EQ(change(made_record("hep", 1, 1, 1), made_record("hep", 1.04, 1.04, 1.04), 0.03), Change::slower);
}

TEST(Compare, TheRatioHasTheIntervalsOfBoth) {
  const auto rows =
      compare_records({made_record("hep", 1.0, 0.9, 1.1)}, {made_record("hep", 2.0, 1.8, 2.2)}, 0.05).rows;
  EXPECT_DOUBLE_EQ(rows.at(0).ratio.median, 0.5);
  EXPECT_DOUBLE_EQ(rows.at(0).ratio.low, 0.9 / 2.2);
  EXPECT_DOUBLE_EQ(rows.at(0).ratio.high, 1.1 / 1.8);
}

TEST(Compare, RowsOfOneSideOnlyAreNoRegressions) {
  const RecordComparison outcome = compare_records({made_record("old", 1, 1, 1), made_record("both", 1, 1, 1)},
                                                   {made_record("both", 1, 1, 1), made_record("new", 1, 1, 1)}, 0.05);
  EXPECT_EQ(outcome.count(Change::gone), 1);
  EXPECT_EQ(outcome.count(Change::added), 1);
  EXPECT_EQ(outcome.count(Change::none), 1);
  EXPECT_EQ(outcome.count(Change::slower), 0);
  const std::string text = comparison_text(outcome);
  for (const char* word : {"measured before, not now", "measured now, not before", "| old |", "| new |", "3 rows"})
    EXPECT_NE(text.find(word), std::string::npos) << text;
}

TEST(Compare, TheLastOfEqualRowsCounts) {
  const Record slow = made_record("hep", 2, 2, 2), fast = made_record("hep", 1, 1, 1);
  const RecordComparison outcome = compare_records({slow, fast}, {slow, fast}, 0.05);
  ASSERT_EQ(outcome.rows.size(), 1u);
  EXPECT_EQ(outcome.rows[0].change, Change::none);
  EXPECT_EQ(outcome.rows[0].now.median, 1);
}

TEST(Compare, AnotherMachineIsSaid) {
  const Record before = made_record("hep", 1, 1, 1);
  Record now = before;
  EXPECT_TRUE(compare_records({before}, {now}, 0.05).differences.empty());
  now.where.machine = "another";
  now.where.threads = 4;
  const RecordComparison outcome = compare_records({before}, {now}, 0.05);
  ASSERT_EQ(outcome.differences.size(), 2u);
  EXPECT_NE(comparison_text(outcome).find("other machine: a machine before, another now"), std::string::npos);
}

}  // namespace
}  // namespace isobar::bench
