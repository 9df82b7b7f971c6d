// Years of 365 days: dates to hours and back.
#include "isobar/worlds/calendar.hpp"

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

namespace isobar::worlds {
namespace {

TEST(Calendar, knows_no_leap_day) {
  EXPECT_EQ(date_of(0), (WorldDate{2000, 1, 1, 0}));
  EXPECT_EQ(date_of(59 * 24), (WorldDate{2000, 3, 1, 0}));
  EXPECT_EQ(date_of(365 * 24), (WorldDate{2001, 1, 1, 0}));
  EXPECT_EQ(date_of(-1), (WorldDate{1999, 12, 31, 23}));
  EXPECT_EQ(date_of(-365 * 24), (WorldDate{1999, 1, 1, 0}));
  EXPECT_EQ(date_of(-365 * 24 - 1), (WorldDate{1998, 12, 31, 23}));
}

TEST(Calendar, goes_there_and_back) {
  for (std::int64_t hour = -30000; hour < 30000; hour += 37) EXPECT_EQ(hour_of(date_of(hour)), hour);
}

TEST(Calendar, reads_dates_and_refuses_others) {
  EXPECT_EQ(hour_of("2000-07-15"), (181 + 14) * 24);
  EXPECT_EQ(date_of(hour_of("1979-12-31")), (WorldDate{1979, 12, 31, 0}));
  for (const char* text : {"2000-02-29", "2000-13-01", "2000-7", "2000-07-15x", "", "summer", "2000-00-10"})
    EXPECT_THROW(hour_of(text), UsageError) << text;
}

TEST(Calendar, counts_days_of_the_year) {
  EXPECT_DOUBLE_EQ(day_of_year(36), 1.5);
  EXPECT_DOUBLE_EQ(day_of_year(-24), 364);
}

}  // namespace
}  // namespace isobar::worlds
