// The lives of tropical cyclones: where and when they form, how they travel and how strong they are. To find the storms
// of a moment, the births of the preceding weeks are drawn and each track is followed from its birth, so every frame
// sees the same storm. Rates by basin follow the observed counts, including tropical depressions.
#pragma once

#include <cstdint>
#include <vector>

#include "isobar/base/random.hpp"

namespace isobar::worlds {

/// A tropical cyclone at one moment.
struct Storm {
  double latitude, longitude;  ///< of its centre, degrees
  double deficit;              ///< how far the central pressure is below that of the surroundings, Pa
  double radius;               ///< of maximum wind, metres
  double shape;                ///< Holland's B
  double east, north;          ///< its motion, m/s
  double hours;                ///< since its birth
  double phase;                ///< of its spiral bands, radians
};

/// The storms of an hour, in order of birth.
std::vector<Storm> storms_at(std::int64_t hour, const Random& random);

}  // namespace isobar::worlds
