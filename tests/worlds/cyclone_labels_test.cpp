// Planted cyclones are found, and each of the criteria is needed.
#include <algorithm>

#include <gtest/gtest.h>

#include "isobar/worlds/weather_labels.hpp"

#include "weather_states.hpp"

namespace isobar::worlds {
namespace {

constexpr SphereGrid cyclone_labels_grid{193, 288};

Storm storm(double latitude, double longitude, double deficit) {
  return {.latitude = latitude,
          .longitude = longitude,
          .deficit = deficit,
          .radius = 60e3,
          .shape = 1.4,
          .east = 0,
          .north = 0,
          .hours = 60,
          .phase = 0};
}

TEST(CycloneLabels, calm_air_has_none) {
  EXPECT_TRUE(find_cyclones(cyclone_labels_grid, calm_state(cyclone_labels_grid), LabelRules::relaxed()).empty());
}

TEST(CycloneLabels, planted_storms_are_found_where_they_are) {
  auto state = calm_state(cyclone_labels_grid);
  const Storm planted[] = {storm(15, 140, 4000), storm(-18, 0.3, 6000), storm(25, 290, 2500)};
  for (const Storm& s : planted) plant(state, cyclone_labels_grid, s);
  const auto found = find_cyclones(cyclone_labels_grid, state, LabelRules::usual());
  ASSERT_EQ(found.size(), 3u);
  for (const Storm& s : planted)
    EXPECT_TRUE(std::ranges::any_of(found, [&](const FoundCyclone& f) {
      return great_circle(f.latitude, f.longitude, s.latitude, s.longitude) < 1.5e5 && f.wind > 14;
    }));
}

TEST(CycloneLabels, each_sign_is_needed) {
  const auto with = [](auto change) {
    auto state = calm_state(cyclone_labels_grid);
    plant(state, cyclone_labels_grid, storm(15, 140, 5000));
    const auto calm = calm_state(cyclone_labels_grid);
    for (std::size_t i = 0; i < state.size(); i += channel_count) change(state.data() + i, calm.data() + i);
    return find_cyclones(cyclone_labels_grid, state, LabelRules::usual()).size();
  };
  EXPECT_EQ(with([](float*, const float*) {}), 1u);
  EXPECT_EQ(with([](float* s, const float* c) { s[PSL] = c[PSL]; }), 0u);
  EXPECT_EQ(with([](float* s, const float* c) { s[U850] = c[U850], s[V850] = c[V850]; }), 0u);
  EXPECT_EQ(with([](float* s, const float* c) { s[T200] = c[T200], s[T500] = c[T500]; }), 0u);  // a cold-core low
}

TEST(CycloneLabels, storms_of_the_fronts_are_not_tropical) {
  auto state = calm_state(cyclone_labels_grid);
  plant(state, cyclone_labels_grid, storm(52, 140, 5000));
  EXPECT_TRUE(find_cyclones(cyclone_labels_grid, state, LabelRules::usual()).empty());
}

TEST(CycloneLabels, mask_is_the_core_with_its_eye) {
  const SphereGrid fine{769, 1152};
  auto state = calm_state(fine);
  plant(state, fine, storm(15, 140, 5000));
  const auto found = find_cyclones(fine, state, LabelRules::usual());
  ASSERT_EQ(found.size(), 1u);
  const Mask mask = cyclone_mask(fine, state, found, LabelRules::usual());
  const auto pieces = components(fine, mask);
  ASSERT_EQ(pieces.size(), 1u);
  const int row = static_cast<int>(std::lround(fine.row_of(15))),
            column = static_cast<int>(std::lround(fine.column_of(140)));
  EXPECT_EQ(mask[static_cast<std::size_t>(row * fine.width + column)], 1);
  // 7 % of a disc of 6.6 degrees, and the eye.
  const double disc = std::numbers::pi * std::pow(6.6 * degree * earth_radius, 2);
  EXPECT_NEAR(extent(fine, pieces[0]).area / disc, 0.07, 0.03);
}

}  // namespace
}  // namespace isobar::worlds
