#include "isobar/record/trace_row.hpp"

#include <set>

#include <gtest/gtest.h>

namespace isobar::record {
namespace {

TEST(TraceRow, EveryRowIsReadAsItWasWritten) {
  std::set<int> numbers{TraceRow::steps};
  for (const Lane lane : {Lane::main, Lane::exchange, Lane::reader})
    for (int place = 0; place < (lane == Lane::main ? 1 : 100); ++place) {
      const TraceRow row{lane, place};
      EXPECT_TRUE(numbers.insert(row.number()).second) << row.number();
      EXPECT_EQ(TraceRow::of(row.number()), row) << row.number();
    }
  EXPECT_FALSE(TraceRow::of(TraceRow::steps));
}

// Traces of earlier versions have the same numbers.
TEST(TraceRow, NumbersAndNamesStay) {
  const auto shown = [](Lane lane, int place) {
    const TraceRow row{lane, place};
    return fmt::format("{} {}", row.number(), row.name());
  };
  EXPECT_EQ(shown(Lane::main, 0), "1 compute");
  EXPECT_EQ(shown(Lane::exchange, 0), "2 exchange");
  EXPECT_EQ(shown(Lane::exchange, 2), "1001 exchange 3");
  EXPECT_EQ(shown(Lane::reader, 0), "3 reading 1");
  EXPECT_EQ(shown(Lane::reader, 4), "7 reading 5");
}

}  // namespace
}  // namespace isobar::record
