// Whole states: they are reproducible, physical and moving, and have learnable labels.
#include "isobar/worlds/atmosphere.hpp"

#include <cmath>
#include <thread>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/worlds/calendar.hpp"
#include "isobar/worlds/weather_labels.hpp"

namespace isobar::worlds {
namespace {

std::vector<float> made(const Atmosphere& atmosphere, std::int64_t hour) {
  std::vector<float> state(atmosphere.count());
  atmosphere.make(hour, state);
  return state;
}

TEST(Atmosphere, every_hour_can_be_made_alone) {
  const Atmosphere one({.height = 33, .width = 48, .threads = 1}), other({.height = 33, .width = 48, .threads = 3});
  std::vector<std::vector<float>> film;
  for (int hour = 0; hour < 12; hour += 3) film.push_back(made(one, 5000 + hour));
  EXPECT_EQ(made(other, 5009), film[3]);
  EXPECT_EQ(made(one, 5003), film[1]);
  std::vector<float> beside;
  {
    const std::jthread thread([&] { beside = made(one, 5006); });
    EXPECT_EQ(made(one, 5000), film[0]);
  }
  EXPECT_EQ(beside, film[2]);
}

TEST(Atmosphere, seeds_and_runs_are_different_weather) {
  const auto first = made(Atmosphere({.height = 33, .width = 48}), 100);
  EXPECT_NE(made(Atmosphere({.height = 33, .width = 48, .seed = 2}), 100), first);
  EXPECT_NE(made(Atmosphere({.height = 33, .width = 48, .run = 1}), 100), first);
  EXPECT_NE(made(Atmosphere({.height = 33, .width = 48}), 103), first);
}

TEST(Atmosphere, states_are_physical) {
  const Atmosphere atmosphere({.height = 97, .width = 144, .threads = 1});
  const SphereGrid& grid = atmosphere.grid();
  for (const char* day : {"2000-01-15", "2001-04-15", "2002-07-15", "2003-10-15"}) {
    const auto state = made(atmosphere, hour_of(day) + 6);
    for (std::size_t cell = 0; cell < grid.cells(); ++cell) {
      const float* s = state.data() + cell * channel_count;
      for (int c = 0; c < channel_count; ++c)
        ASSERT_TRUE(std::isfinite(s[c])) << channels[static_cast<std::size_t>(c)].name;
      ASSERT_GT(s[TMQ], 0);
      ASSERT_LT(s[TMQ], 90);
      ASSERT_LT(std::hypot(s[U850], s[V850]), 110);
      ASSERT_GT(s[PSL], 90000);
      ASSERT_LT(s[PSL], 109000);
      ASSERT_LE(s[PS], s[PSL]);
      ASSERT_GE(s[PRECT], 0);
      ASSERT_GT(s[Z200], 10000);
      ASSERT_LT(s[Z200], 13000);
      ASSERT_GT(s[TREFHT], 195);
      ASSERT_LT(s[TREFHT], 325);
      ASSERT_GT(s[T500], 215);
      ASSERT_LT(s[T200], 250);
    }
  }
}

// Away from the equator, storms and mountains the wind at 850 hPa follows the pressure.
TEST(Atmosphere, wind_is_geostrophic) {
  const Atmosphere atmosphere({.height = 193, .width = 288, .storms = false, .threads = 1});
  const SphereGrid& grid = atmosphere.grid();
  const auto state = made(atmosphere, 2000);
  double both = 0, wind = 0, balance = 0;
  for (int row = static_cast<int>(grid.row_of(-60)); row < grid.row_of(-40); ++row)
    for (int column = 1; column + 1 < grid.width; ++column) {
      const auto at = [&](int c, Channel channel) {
        return state[(static_cast<std::size_t>(row * grid.width + c)) * channel_count + channel];
      };
      const double x = 2 * grid.column_step() * degree * earth_radius * std::cos(grid.latitude(row) * degree);
      const double v = at(column, V850),
                   g = (at(column + 1, PSL) - at(column - 1, PSL)) / (x * 1.2 * coriolis(grid.latitude(row)));
      both += v * g, wind += v * v, balance += g * g;
    }
  EXPECT_GT(both / std::sqrt(wind * balance), 0.97);
  EXPECT_NEAR(wind / balance, 1, 0.15);
}

TEST(Atmosphere, frames_follow_each_other) {
  const Atmosphere atmosphere({.height = 97, .width = 144, .threads = 1});
  const auto a = made(atmosphere, 3000), b = made(atmosphere, 3003), far = made(atmosphere, 3400);
  const auto difference = [&](const std::vector<float>& x, const std::vector<float>& y, Channel channel) {
    double sum = 0;
    for (std::size_t i = static_cast<std::size_t>(channel); i < x.size(); i += channel_count)
      sum += std::abs(x[i] - y[i]);
    return sum;
  };
  for (const Channel channel : {TMQ, V850, T500})
    EXPECT_LT(difference(a, b, channel), 0.35 * difference(a, far, channel)) << channel;
}

// The same weather on a coarser grid: physical scales are kilometres, not points.
TEST(Atmosphere, grids_show_the_same_weather) {
  const Atmosphere fine({.height = 193, .width = 288, .storms = false, .threads = 1}),
      coarse({.height = 49, .width = 72, .storms = false, .threads = 1});
  const auto a = made(fine, 700), b = made(coarse, 700);
  double xy = 0, xx = 0, yy = 0;
  for (int row = 10; row < 39; ++row)
    for (int column = 0; column < 72; ++column) {
      const double x = a[static_cast<std::size_t>(row * 4 * 288 + column * 4) * channel_count + PSL] - 101300.0;
      const double y = b[static_cast<std::size_t>(row * 72 + column) * channel_count + PSL] - 101300.0;
      xy += x * y, xx += x * x, yy += y * y;
    }
  EXPECT_GT(xy / std::sqrt(xx * yy), 0.98);
}

TEST(Atmosphere, refuses_nonsense) {
  EXPECT_THROW(Atmosphere({.height = 4}), UsageError);
  EXPECT_THROW(Atmosphere({.width = 1'000'000}), UsageError);
  EXPECT_THROW(Atmosphere({.height = 32, .width = 48, .run = -1}), UsageError);
  EXPECT_THROW(Atmosphere({.height = 32, .width = 48, .threads = -1}), UsageError);
}

// What a network would learn: storms are found by the rules, background is nearly everything, and no single threshold
// of moisture draws the same map.
TEST(Atmosphere, labels_are_learnable_and_not_trivial) {
  const Atmosphere atmosphere({.height = 193, .width = 288, .seed = 5, .threads = 1});
  const SphereGrid& grid = atmosphere.grid();
  int strong = 0, found = 0, frames = 0;
  double cyclone = 0, river = 0, moist = 0, moist_river = 0, best = 0;
  std::vector<std::pair<float, bool>> cells;
  for (std::int64_t hour = hour_of("2002-01-10"); hour < hour_of("2003-01-10"); hour += 1099, ++frames) {
    const auto state = made(atmosphere, hour);
    const auto labels = label_weather(grid, state, LabelRules::usual());
    const auto centres = find_cyclones(grid, state, LabelRules::usual());
    for (const Storm& storm : atmosphere.storms(hour)) {
      if (storm.deficit < 1500) continue;
      ++strong;
      for (const FoundCyclone& f : centres)
        if (great_circle(f.latitude, f.longitude, storm.latitude, storm.longitude) < 3e5) {
          ++found;
          break;
        }
    }
    for (std::size_t cell = 0; cell < labels.size(); ++cell) {
      cyclone += labels[cell] == WeatherClass::cyclone;
      river += labels[cell] == WeatherClass::river;
      cells.emplace_back(state[cell * channel_count + TMQ], labels[cell] == WeatherClass::river);
    }
  }
  const double all = static_cast<double>(cells.size());
  EXPECT_GE(found, strong * 9 / 10);
  EXPECT_GT(strong, 5);
  EXPECT_GT(cyclone / all, 1e-4);
  EXPECT_GT(river / all, 0.008);
  EXPECT_GT(1 - (cyclone + river) / all, 0.95);
  for (double threshold = 10; threshold < 60; threshold += 2) {
    moist = moist_river = 0;
    for (const auto& [water, is_river] : cells)
      if (water > threshold) ++moist, moist_river += is_river;
    best = std::max(best, moist_river / (moist + river - moist_river));
  }
  EXPECT_LT(best, 0.25);  // intersection over union of the best threshold
}

}  // namespace
}  // namespace isobar::worlds
