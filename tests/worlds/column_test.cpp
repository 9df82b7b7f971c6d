// The sixteen channels of one column agree with each other.
#include "isobar/worlds/column.hpp"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "isobar/worlds/channels.hpp"
#include "isobar/worlds/climate.hpp"

namespace isobar::worlds {
namespace {

AirColumn tropical() {
  AirColumn air{};
  air.sea_pressure = 101500;
  air.surface = 300;
  air.air = air.lower = 298.6;
  air.temperature_500 = 266;
  air.temperature_200 = 218;
  air.moisture = air.usual_moisture = 40;
  return air;
}

std::array<float, 16> channels_of(const AirColumn& air) {
  std::array<float, 16> state;
  fill_channels(air, state);
  return state;
}

TEST(Column, heights_are_hydrostatic) {
  const auto state = channels_of(tropical());
  EXPECT_NEAR(state[Z1000], 29.27 * 298.6 * 1.01 * std::log(1.015), 1.5);
  EXPECT_NEAR(state[Z200], 12340, 60);
  EXPECT_NEAR(state[ZBOT], 65.8, 0.5);
  AirColumn warm = tropical();
  warm.temperature_500 += 2;
  EXPECT_NEAR(channels_of(warm)[Z200] - state[Z200], 29.27 * (1 * std::log(101500 / 5e4) + 1 * std::log(2.5)), 0.5);
}

TEST(Column, mountains_lower_the_pressure) {
  AirColumn air = tropical();
  EXPECT_EQ(channels_of(air)[PS], channels_of(air)[PSL]);
  air.height = 3000;
  air.air -= 19.5;
  const auto state = channels_of(air);
  EXPECT_NEAR(state[PS], 70900, 700);
  // Below the ground CAM reports its lowest level.
  EXPECT_NEAR(state[Z1000], 3000 + state[ZBOT], 0.01);
}

TEST(Column, humidity_stays_below_saturation) {
  AirColumn air = tropical();
  for (const double moisture : {1.0, 20.0, 40.0, 75.0}) {
    air.moisture = moisture;
    const auto state = channels_of(air);
    EXPECT_GT(state[QREFHT], 0);
    EXPECT_LT(state[QREFHT], saturation(air.air, air.sea_pressure));
  }
}

TEST(Column, storms_warm_core_closes_the_deficit_aloft) {
  AirColumn air = tropical();
  const auto calm = channels_of(air);
  air.storm_pressure = -5000;
  const auto storm = channels_of(air);
  EXPECT_FLOAT_EQ(storm[PSL], calm[PSL] - 5000);
  const double height = 29.27 * 282 * std::log(96500.0 / 101500);
  EXPECT_LT(storm[Z200], calm[Z200]);
  EXPECT_GT(storm[Z200] - calm[Z200], height / 4);
  EXPECT_FLOAT_EQ(storm[Z1000], storm[ZBOT]);  // 965 hPa: 1000 hPa lies below the sea
}

}  // namespace
}  // namespace isobar::worlds
