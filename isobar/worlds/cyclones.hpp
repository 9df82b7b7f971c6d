// The lives of tropical cyclones: where and when they are born, how they travel and how strong they are. Storms of a
// moment are found by looking at the births of the weeks before it; a track is then followed from its birth, so that
// every frame sees the same storm. Rates by basin follow the observed counts, tropical depressions included.
#pragma once

#include <cstdint>
#include <vector>

#include "isobar/base/random.hpp"

namespace isobar::worlds {

/// A tropical cyclone at one moment.
struct Storm {
  double latitude, longitude;  ///< of its centre, degrees
  double deficit;              ///< how far the centre's pressure is below its surroundings', Pa
  double radius;               ///< of the strongest wind, metres
  double shape;                ///< Holland's B
  double east, north;          ///< its motion, m/s
  double hours;                ///< since its birth
  double phase;                ///< of its spiral bands, radians
};

/// The storms of an hour, in order of birth.
std::vector<Storm> storms_at(std::int64_t hour, const Random& random);

}  // namespace isobar::worlds
