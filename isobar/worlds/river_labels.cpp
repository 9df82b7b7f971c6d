// Atmospheric rivers as TECA's flood fill finds them: moisture over a threshold outside the tropics, connected cells at
// least 1,500 km long and on average less than 1,000 km wide. Two conditions keep the fill from covering all of the
// moist subtropics in summer: rivers stand out from their surroundings, and carry their water poleward.
#include <algorithm>
#include <cmath>

#include "isobar/base/error.hpp"
#include "isobar/worlds/channels.hpp"
#include "isobar/worlds/weather_labels.hpp"

namespace isobar::worlds {
namespace {

constexpr double surroundings = 1.5e6;  // metres to each side

// The mean over `half` points to both sides; a running sum costs the same for any width.
void smooth_line(std::span<double> line, std::span<double> spare, int half, bool periodic) {
  const int n = std::ssize(line);
  half = std::min(half, (n - 1) / 2);
  double sum = 0;
  int count = 0;
  const auto at = [&](int i) { return line[periodic ? (i % n + n) % n : i]; };
  const auto inside = [&](int i) { return periodic || (i >= 0 && i < n); };
  for (int i = -half; i <= half; ++i)
    if (inside(i)) sum += at(i), ++count;
  for (int i = 0; i < n; ++i) {
    spare[i] = sum / count;
    if (inside(i - half)) sum -= at(i - half), --count;
    if (inside(i + half + 1)) sum += at(i + half + 1), ++count;
  }
  std::ranges::copy(spare, line.begin());
}

// Moisture averaged over its surroundings; two passes of a box filter are nearly isotropic.
std::vector<double> background(const SphereGrid& grid, std::span<const float> state) {
  const std::size_t width = grid.width, height = grid.height;
  std::vector<double> plane(grid.cells()), spare(std::max(width, height)), line(height);
  for (std::size_t cell = 0; cell < plane.size(); ++cell) plane[cell] = state[cell * channel_count + TMQ];
  const double metres = degree * earth_radius;
  const int rows = std::max(1, static_cast<int>(std::lround(surroundings / 2 / (grid.row_step() * metres))));
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t row = 0; row < height; ++row) {
      const double narrow = std::max(0.1, std::cos(grid.latitude(row) * degree));
      const int half =
          std::max(1, static_cast<int>(std::lround(surroundings / 2 / (grid.column_step() * metres * narrow))));
      smooth_line(std::span(plane).subspan(row * width, width), std::span(spare).first(width), half, true);
    }
    for (std::size_t column = 0; column < width; ++column) {
      for (std::size_t row = 0; row < height; ++row) line[row] = plane[row * width + column];
      smooth_line(line, std::span(spare).first(height), rows, false);
      for (std::size_t row = 0; row < height; ++row) plane[row * width + column] = line[row];
    }
  }
  return plane;
}

}  // namespace

LabelRules LabelRules::relaxed() {
  LabelRules rules;
  rules.least_moisture = 21;
  rules.least_wind = 12;
  rules.least_deficit = 250;
  return rules;
}

Mask river_mask(const SphereGrid& grid, std::span<const float> state, std::span<const std::uint8_t> taken,
                const LabelRules& rules) {
  expects(state.size() == grid.cells() * channel_count && taken.size() == grid.cells(), "a state of the grid's size");
  const std::vector<double> usual = background(grid, state);
  Mask candidates(grid.cells()), mask(grid.cells());
  const std::size_t width = grid.width;
  for (std::size_t cell = 0; cell < candidates.size(); ++cell) {
    const double latitude = grid.latitude(cell / width);
    const float* here = state.data() + cell * channel_count;
    if (std::abs(latitude) < rules.nearest_latitude || taken[cell] != 0) continue;
    candidates[cell] = here[TMQ] > rules.least_moisture && here[TMQ] - usual[cell] > rules.least_contrast &&
                       here[TMQ] * std::hypot(here[U850], here[V850]) > rules.least_transport;
  }
  for (const Component& piece : components(grid, candidates)) {
    // A piece this small cannot be long: do not measure it.
    if (static_cast<double>(piece.cells.size()) * grid.row_step() * degree * earth_radius < rules.least_length)
      continue;
    const ComponentExtent size = extent(grid, piece);
    if (size.length < rules.least_length || size.width() > rules.most_width) continue;
    double poleward = 0, reach = 0;
    for (const std::uint32_t cell : piece.cells) {
      const float* here = state.data() + std::size_t{cell} * channel_count;
      const double latitude = grid.latitude(cell / width);
      reach = std::max(reach, std::abs(latitude));
      poleward += here[TMQ] * here[V850] * (latitude < 0 ? -1 : 1) * grid.cell_area(cell / width);
    }
    if (poleward <= 0 || reach < rules.least_reach) continue;
    for (const std::uint32_t cell : piece.cells) mask[cell] = 1;
  }
  return mask;
}

std::vector<WeatherClass> label_weather(const SphereGrid& grid, std::span<const float> state, const LabelRules& rules) {
  const Mask cyclones = cyclone_mask(grid, state, find_cyclones(grid, state, rules), rules);
  const Mask rivers = river_mask(grid, state, cyclones, rules);
  std::vector<WeatherClass> labels(grid.cells(), WeatherClass::background);
  for (std::size_t cell = 0; cell < labels.size(); ++cell)
    if (cyclones[cell] != 0) labels[cell] = WeatherClass::cyclone;
    else if (rivers[cell] != 0) labels[cell] = WeatherClass::river;
  return labels;
}

}  // namespace isobar::worlds
