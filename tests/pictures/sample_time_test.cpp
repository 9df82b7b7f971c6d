#include "isobar/pictures/sample_time.hpp"

#include <gtest/gtest.h>

#include "tests/pictures/made_network.hpp"

namespace isobar::pictures {
namespace {

TEST(SampleTime, DatesInNames) {
  const auto first = hour_in("climate/data-2000-01-31-05-1.h5");
  ASSERT_TRUE(first);
  EXPECT_EQ(hour_in("atmosphere data-2000-02-01-00-1"), *first + 9);
  EXPECT_EQ(hour_in("era.nc step 3 (2000-01-31 18:00:00)"), *first + 3);
  EXPECT_EQ(hour_in("runs/1999-05-05/x.nc (2000-01-31 15:00:00)"), *first);  // the last date counts
  EXPECT_FALSE(hour_in("sample 3"));
  EXPECT_FALSE(hour_in("2000-13-41"));
  EXPECT_FALSE(hour_in(""));
}

TEST(SampleTime, SamplesThatFollowEachOther) {
  MadeSet set(10, Shape{1}, Shape{1}, nullptr);
  EXPECT_EQ(consecutive_samples(set, 16), 0);
  set.place = [](std::int64_t i) {
    return "data-2000-01-0" + std::to_string(1 + i / 2) + "-0" + std::to_string(i % 2 * 4);
  };
  EXPECT_EQ(consecutive_samples(set, 16), 10);
  EXPECT_EQ(consecutive_samples(set, 6), 6);
  set.place = [](std::int64_t i) {
    return "data-2000-0" + std::to_string(1 + i / 5) + "-0" + std::to_string(1 + i % 5);
  };
  EXPECT_EQ(consecutive_samples(set, 16), 5);  // then a month is missing
  set.place = [](std::int64_t i) { return "data-200" + std::to_string(i) + "-01-01-00"; };
  EXPECT_EQ(consecutive_samples(set, 16), 0);
  set.place = [](std::int64_t) { return "run 2000-01-01"; };
  EXPECT_EQ(consecutive_samples(set, 16), 0);
}

}  // namespace
}  // namespace isobar::pictures
