// Storms: seasons, places, numbers, motion.
#include "isobar/worlds/cyclones.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "isobar/worlds/calendar.hpp"
#include "isobar/worlds/sphere.hpp"

namespace isobar::worlds {
namespace {

const Random weather(7);

TEST(Cyclones, live_in_the_warm_latitudes_of_their_season) {
  int north_summer = 0, north_winter = 0, south_summer = 0, south_winter = 0, all = 0;
  double deepest = 0;
  for (std::int64_t hour = 0; hour < 6 * 8760; hour += 240)
    for (const Storm& storm : storms_at(hour, weather)) {
      const int month = date_of(hour).month;
      ++all;
      deepest = std::max(deepest, storm.deficit);
      EXPECT_LT(std::abs(storm.latitude), 49);
      EXPECT_GT(std::abs(storm.latitude), 2);
      EXPECT_GE(storm.longitude, 0);
      EXPECT_LT(storm.longitude, 360);
      EXPECT_GE(storm.deficit, 100);
      if (month >= 7 && month <= 10) ++(storm.latitude > 0 ? north_summer : south_winter);
      if (month <= 3) ++(storm.latitude > 0 ? north_winter : south_summer);
    }
  EXPECT_GT(north_summer, 5 * north_winter);
  EXPECT_GT(south_summer, 5 * south_winter);
  // About 150 births a year that live a week or so: three at any time.
  EXPECT_NEAR(all / (6 * 36.5), 3, 1.5);
  EXPECT_GT(deepest, 5000);
  EXPECT_LT(deepest, 9600);
}

TEST(Cyclones, move_smoothly_from_frame_to_frame) {
  const std::int64_t begin = hour_of("2000-09-01");
  int followed = 0;
  for (std::int64_t hour = begin; hour < begin + 180; hour += 3) {
    const auto now = storms_at(hour, weather), next = storms_at(hour + 3, weather);
    for (const Storm& storm : now) {
      const auto later =
          std::ranges::find_if(next, [&](const Storm& s) { return s.phase == storm.phase && s.shape == storm.shape; });
      if (later == next.end()) continue;
      ++followed;
      EXPECT_LT(great_circle(storm.latitude, storm.longitude, later->latitude, later->longitude), 3 * 3600 * 25.0);
      EXPECT_NEAR(later->deficit, storm.deficit, 1300);
      EXPECT_EQ(later->hours, storm.hours + 3);
    }
  }
  EXPECT_GT(followed, 100);
}

TEST(Cyclones, go_west_in_the_tropics_and_recurve) {
  double west = 0, east = 0, poleward = 0, low = 0, high = 0;
  for (std::int64_t hour = 0; hour < 6 * 8760; hour += 240)
    for (const Storm& storm : storms_at(hour, weather)) {
      if (storm.hours < 12) continue;
      if (std::abs(storm.latitude) < 18) west += storm.east, ++low;
      if (std::abs(storm.latitude) > 30) east += storm.east, ++high;
      poleward += storm.north * (storm.latitude < 0 ? -1 : 1);
    }
  ASSERT_GT(low, 50);
  ASSERT_GT(high, 5);
  EXPECT_LT(west / low, -2);
  EXPECT_GT(east / high, 2);
  EXPECT_GT(poleward, 0);
}

TEST(Cyclones, are_the_same_whoever_asks) {
  const auto a = storms_at(6000, weather), b = storms_at(6000, weather), c = storms_at(6000, Random(8));
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].latitude, b[i].latitude);
  EXPECT_FALSE(a.size() == c.size() && !a.empty() && a[0].latitude == c[0].latitude);
}

}  // namespace
}  // namespace isobar::worlds
