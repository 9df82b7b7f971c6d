// Compares the mean climate with ERA-Interim.
#include "isobar/worlds/climate.hpp"

#include <gtest/gtest.h>

#include "isobar/worlds/calendar.hpp"

namespace isobar::worlds {
namespace {

const Climate january(hour_of("2000-01-20")), july(hour_of("2000-07-20"));

// ERA-Interim's zonal means at 850 hPa in January and July (eraint_uvz): m/s.
TEST(Climate, zonal_wind_is_that_of_the_reanalysis) {
  struct Row {
    double latitude, january, july;
  };
  for (const Row row : {Row{60, 2.6, 1.1},
                        {45, 5.9, 3.5},
                        {15, -5.5, -1.3},
                        {0, -3.2, -3.0},
                        {-15, -2.8, -5.6},
                        {-45, 11.9, 10.8},
                        {-60, 6.1, 9.0}}) {
    EXPECT_NEAR(january.zonal(row.latitude).wind_850, row.january, 3.0) << row.latitude;
    EXPECT_NEAR(july.zonal(row.latitude).wind_850, row.july, 3.0) << row.latitude;
  }
}

// ERA-Interim on 2005-01-23: K.
TEST(Climate, temperatures_aloft_are_those_of_the_reanalysis) {
  struct Row {
    double latitude, at_500, at_200;
  };
  for (const Row row : {Row{90, 235.3, 204.4},
                        {66, 237.9, 210.6},
                        {42, 247.9, 219.1},
                        {18, 266.7, 219.7},
                        {-6, 268.2, 220.3},
                        {-30, 265.4, 219.0},
                        {-54, 249.6, 224.4},
                        {-78, 239.7, 227.9}}) {
    EXPECT_NEAR(january.zonal(row.latitude).temperature_500, row.at_500, 5) << row.latitude;
    EXPECT_NEAR(january.zonal(row.latitude).temperature_200, row.at_200, 5) << row.latitude;
    EXPECT_FLOAT_EQ(january.temperature_500(row.latitude), january.zonal(row.latitude).temperature_500);
  }
}

TEST(Climate, pressure_balances_the_surface_wind) {
  const auto p = [](double y) { return january.zonal(y).pressure; };
  EXPECT_GT(p(-30), p(0) + 400);     // subtropical high
  EXPECT_LT(p(-65), p(-30) - 2000);  // the deep southern trough
  EXPECT_GT(p(30), p(0));
  EXPECT_LT(p(62), p(30));
}

TEST(Climate, rain_belt_follows_the_sun) {
  for (const double x : {20.0, 150.0, 300.0}) EXPECT_GT(july.rain_belt(x), january.rain_belt(x) + 4);
  EXPECT_GT(july.rain_belt(95), july.rain_belt(320) + 3);  // the monsoon
  EXPECT_GT(july.column_humidity(july.rain_belt(200), 200, 0), july.column_humidity(-22, 200, 0) + 0.15);
}

TEST(Climate, saturation_is_that_of_the_tables) {
  EXPECT_NEAR(saturation(273.15, 1e5), 0.00381, 5e-5);
  EXPECT_NEAR(saturation(303.15, 1e5), 0.02690, 4e-4);
}

TEST(Climate, standing_waves_are_linear_in_summer) {
  const double mean = Climate::standing(35, 220, 0), full = Climate::standing(35, 220, 1);
  EXPECT_NEAR(Climate::standing(35, 220, -0.5), mean - 0.5 * (full - mean), std::abs(full) * 1e-6);
  EXPECT_GT(full, 0);  // a high in the north turns the air clockwise
}

}  // namespace
}  // namespace isobar::worlds
