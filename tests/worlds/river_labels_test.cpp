// Bands of moist air of known length and width.
#include <gtest/gtest.h>

#include "isobar/worlds/weather_labels.hpp"

#include "weather_states.hpp"

namespace isobar::worlds {
namespace {

constexpr SphereGrid river_labels_grid{193, 288};

// Moist air in a band of given length and width, in km, centred at 38 degrees and turned by an angle; moving poleward.
std::vector<float> with_band(double length, double width, double moisture = 34, double poleward = 10,
                             double latitude = 38) {
  auto state = calm_state(river_labels_grid);
  for (std::size_t cell = 0; cell < river_labels_grid.cells(); ++cell) {
    const double y = (river_labels_grid.latitude(static_cast<int>(cell) / river_labels_grid.width) - latitude) * 111.2;
    const double x =
        std::remainder(river_labels_grid.longitude(static_cast<int>(cell) % river_labels_grid.width) - 2, 360.0) *
        111.2 * std::cos(latitude * degree);
    const double along = 0.8 * x + 0.6 * y, across = -0.6 * x + 0.8 * y;
    if (std::abs(along) > length / 2 || std::abs(across) > width / 2) continue;
    float* here = state.data() + cell * channel_count;
    here[TMQ] = static_cast<float>(moisture);
    here[V850] = static_cast<float>(poleward * (latitude < 0 ? -1 : 1));
    here[U850] = 12;
  }
  return state;
}

std::size_t labelled(const std::vector<float>& state, const LabelRules& rules = LabelRules::usual()) {
  const Mask mask = river_mask(river_labels_grid, state, Mask(river_labels_grid.cells()), rules);
  return static_cast<std::size_t>(std::count(mask.begin(), mask.end(), 1));
}

TEST(RiverLabels, calm_air_has_none) { EXPECT_EQ(labelled(calm_state(river_labels_grid), LabelRules::relaxed()), 0u); }

TEST(RiverLabels, long_and_narrow_is_a_river) {
  EXPECT_GT(labelled(with_band(2600, 400)), 50u);
  EXPECT_GT(labelled(with_band(2600, 400, 34, 10, -38)), 50u);
}

TEST(RiverLabels, short_or_wide_is_none) {
  EXPECT_EQ(labelled(with_band(1100, 400)), 0u);
  EXPECT_EQ(labelled(with_band(3000, 2400, 55)), 0u);
}

TEST(RiverLabels, water_must_move_towards_the_pole) { EXPECT_EQ(labelled(with_band(2600, 400, 34, -10)), 0u); }

TEST(RiverLabels, relaxed_rules_take_drier_air) {
  EXPECT_EQ(labelled(with_band(2600, 400, 23, 10, 45)), 0u);
  EXPECT_GT(labelled(with_band(2600, 400, 23, 10, 45), LabelRules::relaxed()), 50u);
}

TEST(RiverLabels, tropics_have_none) { EXPECT_EQ(labelled(with_band(2600, 300, 60, 10, 8)), 0u); }

TEST(RiverLabels, cyclones_come_first) {
  auto state = with_band(2600, 400);
  plant(state, river_labels_grid,
        {.latitude = 20,
         .longitude = 100,
         .deficit = 5000,
         .radius = 60e3,
         .shape = 1.4,
         .east = 0,
         .north = 0,
         .hours = 9,
         .phase = 0});
  const auto labels = label_weather(river_labels_grid, state, LabelRules::usual());
  const auto count = [&](WeatherClass c) { return std::count(labels.begin(), labels.end(), c); };
  EXPECT_GT(count(WeatherClass::cyclone), 3);
  EXPECT_GT(count(WeatherClass::river), 50);
  EXPECT_GT(count(WeatherClass::background), static_cast<std::ptrdiff_t>(labels.size() * 95 / 100));
}

}  // namespace
}  // namespace isobar::worlds
