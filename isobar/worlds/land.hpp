// Land and mountains of the earth, drawn by hand: coarse outlines of the continents and the larger ranges as smooth
// hills. Accurate enough to put coasts, monsoons and surface pressure in the right places.
#pragma once

#include "isobar/worlds/sphere.hpp"

namespace isobar::worlds {

/// What does not change with time.
struct Land {
  Plane fraction;  ///< 0 sea, 1 land; between them at coasts
  Plane height;    ///< metres above the sea
};

/// Land on a grid.
Land make_land(const SphereGrid& grid);

/// True on land; for single points, such as those of a storm's track.
bool is_land(double latitude, double longitude);

}  // namespace isobar::worlds
