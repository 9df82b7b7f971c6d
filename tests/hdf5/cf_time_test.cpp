// Dates and numbers were computed with cftime 1.6.2, the library of netCDF4-python.
#include "isobar/hdf5/cf_time.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "tests/expect_error.hpp"

namespace isobar::hdf5 {
namespace {

using tests::error_of;

TEST(CfTime, NumbersBecomeTheDatesThatCftimeFinds) {
  struct Case {
    const char *units, *calendar;
    double number;
    const char* date;
  };
  const std::vector<Case> cases{
      {"hours since 1900-01-01 00:00:0.0", "gregorian", 920736.0, "2005-01-14 00:00:00"},
      {"days since 1979-01-01 00:00:00", "standard", 13938.0, "2017-02-28 00:00:00"},
      {"days since 1500-01-01", "standard", 30000.0, "1582-02-19 00:00:00"},
      {"days since 1582-10-04", "standard", 1.0, "1582-10-15 00:00:00"},
      {"days since 1582-10-04", "standard", 0.5, "1582-10-04 12:00:00"},
      {"days since 1582-10-15", "standard", -1.0, "1582-10-04 00:00:00"},
      {"days since 1600-02-28", "standard", 1.5, "1600-02-29 12:00:00"},
      {"days since 0001-01-01", "proleptic_gregorian", 731000.25, "2002-05-31 06:00:00"},
      {"days since 1582-10-04", "proleptic_gregorian", 1.0, "1582-10-05 00:00:00"},
      {"days since 1850-01-01", "noleap", 59.0, "1850-03-01 00:00:00"},
      {"days since 0000-01-01 00:00:00", "noleap", 737304.125, "2020-01-05 03:00:00"},
      {"hours since 2000-02-28", "all_leap", 26353.0, "2003-02-28 01:00:00"},
      {"days since 2001-02-28", "366_day", 1.0, "2001-02-29 00:00:00"},
      {"days since 2000-01-01", "360_day", 59.0, "2000-02-30 00:00:00"},
      {"days since 1850-01-01", "360_day", -1.0, "1849-12-30 00:00:00"},
      {"months since 2000-01-01", "360_day", 14.5, "2001-03-16 00:00:00"},
      {"days since 1582-10-04", "julian", 1.0, "1582-10-05 00:00:00"},
      {"days since 1900-02-28", "julian", 1.0, "1900-02-29 00:00:00"},
      {"days since 1900-02-28", "standard", 1.0, "1900-03-01 00:00:00"},
      {"days since 2000-02-28", "365_day", 1.0, "2000-03-01 00:00:00"},
      {"minutes since 2005-08-28 12:00:00 +02:00", "standard", 90.0, "2005-08-28 11:30:00"},
      {"seconds since 1970-01-01T00:00:00Z", "standard", 1234567890.5, "2009-02-13 23:31:30.500000"},
      {"days since 1-1-1 00:00:00", "standard", 736000.5, "2016-02-05 12:00:00"},
      {"hours since 1-1-1 00:00:0.0", "standard", 17541000.0, "2002-01-24 00:00:00"},
      {"days since 0001-01-01", "julian", 577735.0, "1582-10-03 00:00:00"}};
  for (const Case& one : cases) {
    SCOPED_TRACE(std::string(one.units) + ", " + one.calendar);
    const CfTime time(one.units, calendar_of(one.calendar));
    const Instant instant = time.instant(one.number);
    EXPECT_EQ(date_of(time.calendar(), instant).str(), one.date);
    EXPECT_DOUBLE_EQ(time.number(instant), one.number);
    EXPECT_EQ(parse_instant(time.calendar(), one.date), instant);
  }
}

TEST(CfTime, WordsForUnits) {
  const Instant day = CfTime("days since 2000-01-01", Calendar::standard).instant(1);
  for (const char* units : {"day since 2000-01-01", "d since 2000-01-01", "Days Since 2000-01-01"})
    EXPECT_EQ(CfTime(units, Calendar::standard).instant(1), day) << units;
  for (const char* units : {"hours since 2000-01-01", "Hour since 2000-01-01T00:00:00Z", "hrs since 2000-01-01 00:00",
                            "h since 2000-01-01", "hours  since  2000-1-1 0:0:0 UTC"})
    EXPECT_EQ(CfTime(units, Calendar::standard).instant(24), day) << units;
  EXPECT_EQ(CfTime("minutes since 2000-01-01 00:00:00.000", Calendar::standard).instant(1440), day);
  EXPECT_EQ(CfTime("ms since 2000-01-01_00:00:00", Calendar::standard).instant(86400e3), day);
  EXPECT_EQ(CfTime("microseconds since 2000-01-01 -0600", Calendar::standard).instant(86400e6 - 6 * 3600e6), day);
  EXPECT_TRUE(CfTime::looks_like("hours since 1900-01-01"));
  EXPECT_FALSE(CfTime::looks_like("day as %Y%m%d.%f"));
  EXPECT_FALSE(CfTime::looks_like("K"));
}

TEST(CfTime, FractionsOfADayAreWholeSeconds) {
  const CfTime time("days since 1850-01-01", Calendar::noleap);
  for (int step = 0; step < 5000; ++step) {
    const Instant instant = time.instant(50000 + step / 24.0 / 3);
    EXPECT_EQ(instant % microseconds_per_second, 0) << step;
  }
}

TEST(CfTime, MonthsAndYearsOnlyWhereTheyHaveOneLength) {
  EXPECT_HAS(error_of([] { CfTime("months since 2000-01-01", Calendar::standard); }), "no fixed length");
  EXPECT_HAS(error_of([] { CfTime("years since 2000-01-01", Calendar::standard); }), "a year has no fixed length");
  EXPECT_EQ(date_of(Calendar::noleap, CfTime("common_years since 2000-01-01", Calendar::noleap).instant(5)).str(),
            "2005-01-01 00:00:00");
  EXPECT_EQ(date_of(Calendar::day_360, CfTime("years since 2000-01-01", Calendar::day_360).instant(1.5)).str(),
            "2001-07-01 00:00:00");
}

TEST(CfTime, WhatIsNoTimeIsRefused) {
  EXPECT_HAS(error_of([] { CfTime("fortnights since 2000-01-01", Calendar::standard); }), "'fortnights' is not known");
  EXPECT_HAS(error_of([] { CfTime("hours", Calendar::standard); }), "are not units of time");
  EXPECT_HAS(error_of([] { CfTime("days since 0000-00-00", Calendar::standard); }), "there is no 0000-00-00");
  EXPECT_HAS(error_of([] { CfTime("days since yesterday", Calendar::standard); }), "is not a date");
  EXPECT_HAS(error_of([] { calendar_of("lunar"); }), "'lunar' is not known");
  const CfTime time("days since 2000-01-01", Calendar::standard);
  for (const double far : {1e300, -1e300, HUGE_VAL, std::numeric_limits<double>::quiet_NaN(), 1e8})
    EXPECT_HAS(error_of([&] { time.instant(far); }), "is not a date");
}

TEST(CfCalendar, EveryDayComesBack) {
  for (const Calendar calendar : {Calendar::standard, Calendar::proleptic_gregorian, Calendar::julian, Calendar::noleap,
                                  Calendar::all_leap, Calendar::day_360}) {
    Date before = date_of(calendar, -800'000 * microseconds_per_day);
    for (std::int64_t day = -799'999; day < 900'000; day += 1 + std::abs(day) % 3) {
      const Date date = date_of(calendar, day * microseconds_per_day);
      ASSERT_EQ(instant_of(calendar, date), day * microseconds_per_day) << date.str() << " " << name_of(calendar);
      ASSERT_TRUE(date.year > before.year || date.month > before.month || date.day > before.day);
      before = date;
    }
  }
}

TEST(CfCalendar, DatesThatDoNotExist) {
  const auto refused = [](Calendar calendar, const char* date) {
    EXPECT_HAS(error_of([&] { parse_instant(calendar, date); }), "there is no") << date;
  };
  refused(Calendar::standard, "1582-10-10");
  refused(Calendar::standard, "1900-02-29");
  refused(Calendar::noleap, "2000-02-29");
  refused(Calendar::day_360, "2000-01-31");
  refused(Calendar::standard, "2000-13-01");
  refused(Calendar::standard, "2000-01-01 25:00");
  refused(Calendar::standard, "999999-01-01");
  parse_instant(Calendar::julian, "1582-10-10");
  parse_instant(Calendar::all_leap, "2001-02-29");
  EXPECT_EQ(parse_instant(Calendar::standard, "2005"), parse_instant(Calendar::standard, "2005-01-01 00:00:00Z"));
  EXPECT_EQ(parse_instant(Calendar::standard, "2005-03"), parse_instant(Calendar::standard, "2005-03-01"));
  EXPECT_EQ(parse_instant(Calendar::standard, "2005-03-01 24:00"), parse_instant(Calendar::standard, "2005-03-02"));
  for (const char* text : {"", "x", "2005-", "2005-01-", "2005-01-01 12:", "2005-01-01 12:00 later", "20050101"})
    EXPECT_THROW(parse_instant(Calendar::standard, text), Error) << text;
}

}  // namespace
}  // namespace isobar::hdf5
