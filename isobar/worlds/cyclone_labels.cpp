// Tropical cyclones as TECA and its predecessors find them (Knutson et al. 2007, Prabhat et al. 2012): a minimum of sea
// level pressure with strong wind nearby and a core warmer than its surroundings, at low latitudes.
#include <algorithm>
#include <cmath>

#include "isobar/base/error.hpp"
#include "isobar/worlds/channels.hpp"
#include "isobar/worlds/weather_labels.hpp"

namespace isobar::worlds {
namespace {

// Calls f(cell, distance in degrees) for all points within a distance of a given point.
template <class F>
void each_near(const SphereGrid& grid, double latitude, double longitude, double reach, F f) {
  const int first = std::max(0, static_cast<int>(std::ceil(grid.row_of(latitude - reach))));
  const int last = std::min(grid.height - 1, static_cast<int>(std::floor(grid.row_of(latitude + reach))));
  for (int row = first; row <= last; ++row) {
    const double narrow = std::max(0.05, std::cos(grid.latitude(row) * degree));
    const int half = std::min(grid.width / 2 - 1, static_cast<int>(reach / narrow / grid.column_step()) + 1);
    const int middle = static_cast<int>(std::lround(grid.column_of(longitude)));
    for (int c = middle - half; c <= middle + half; ++c) {
      const int column = (c + grid.width) % grid.width;
      const double distance =
          great_circle(latitude, longitude, grid.latitude(row), grid.longitude(column)) / earth_radius / degree;
      if (distance <= reach) f(grid.cell(row, column), distance);
    }
  }
}

double speed(std::span<const float> state, std::size_t cell) {
  return std::hypot(state[cell * channel_count + U850], state[cell * channel_count + V850]);
}

// Whether none of the eight neighbours is lower: few cells pass, and only those are examined further.
bool is_low(const SphereGrid& grid, std::span<const float> state, int row, int column) {
  const auto pressure = [&](int r, int c) {
    return state[grid.cell(r, (c + grid.width) % grid.width) * channel_count + PSL];
  };
  const float here = pressure(row, column);
  for (int r = row - 1; r <= row + 1; ++r)
    for (int c = column - 1; c <= column + 1; ++c)
      if ((r != row || c != column) && pressure(r, c) <= here) return false;
  return true;
}

}  // namespace

std::vector<FoundCyclone> find_cyclones(const SphereGrid& grid, std::span<const float> state, const LabelRules& rules) {
  expects(state.size() == grid.cells() * channel_count, "a state of the grid's size");
  std::vector<FoundCyclone> found;
  // A coarse grid needs a larger radius to have any neighbour at all.
  const double wide = std::max(2.5, 1.6 * grid.column_step());
  for (int row = 1; row + 1 < grid.height; ++row) {
    const double latitude = grid.latitude(row);
    if (std::abs(latitude) > rules.farthest_latitude || std::abs(latitude) < 3) continue;
    for (int column = 0; column < grid.width; ++column) {
      if (!is_low(grid, state, row, column)) continue;
      const double longitude = grid.longitude(column);
      const auto centre = grid.cell(row, column) * channel_count;
      FoundCyclone cyclone{latitude, longitude, state[centre + PSL], 0};
      double around = 0, cool = 0, warm = 0, count = 0, core = 0;
      bool lowest = true;
      each_near(grid, latitude, longitude, 7, [&](std::size_t cell, double distance) {
        const float* here = state.data() + cell * channel_count;
        const double mean = (here[T200] + here[T500]) / 2.0;
        if (distance <= wide) {
          cyclone.wind = std::max(cyclone.wind, speed(state, cell));
          // A storm has one centre: the lowest of several nearby.
          lowest = lowest && here[PSL] >= cyclone.pressure;
        }
        if (distance <= wide / 2) {
          warm += mean;
          ++core;
        }
        if (distance >= 4) {
          around += here[PSL];
          cool += mean;
          ++count;
        }
      });
      if (!lowest || count == 0 || core == 0) continue;
      if (around / count - cyclone.pressure < rules.least_deficit || cyclone.wind < rules.least_wind) continue;
      if (warm / core - cool / count < rules.least_warmth) continue;
      found.push_back(cyclone);
    }
  }
  return found;
}

Mask cyclone_mask(const SphereGrid& grid, std::span<const float> state, std::span<const FoundCyclone> cyclones,
                  const LabelRules& rules) {
  Mask mask(grid.cells());
  for (const FoundCyclone& cyclone : cyclones) {
    std::vector<double> winds;
    each_near(grid, cyclone.latitude, cyclone.longitude, rules.mask_radius,
              [&](std::size_t cell, double) { winds.push_back(speed(state, cell)); });
    const auto place = static_cast<std::ptrdiff_t>(static_cast<double>(winds.size() - 1) * rules.wind_percentile / 100);
    std::ranges::nth_element(winds, winds.begin() + place);
    const double threshold = winds[place];
    // The ring of strong wind and what it encloses: the calm eye belongs to the storm. Strong wind elsewhere in the
    // disc, perhaps of a front, does not.
    double ring = 0, cells = 0;
    each_near(grid, cyclone.latitude, cyclone.longitude, rules.mask_radius / 2, [&](std::size_t cell, double distance) {
      if (speed(state, cell) < threshold) return;
      ring += distance;
      ++cells;
    });
    const double eye = std::max(cells > 0 ? ring / cells : 0.0, 0.6 * grid.row_step());
    each_near(grid, cyclone.latitude, cyclone.longitude, rules.mask_radius / 2, [&](std::size_t cell, double distance) {
      if (distance <= eye || speed(state, cell) >= threshold) mask[cell] = 1;
    });
  }
  return mask;
}

}  // namespace isobar::worlds
