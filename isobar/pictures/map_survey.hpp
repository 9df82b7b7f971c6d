// MapSurvey: how well a network marks the places of each class, sample by sample, and drawings of some of these
// samples: the best, a typical one and the worst, and consecutive ones.
#pragma once

#include <limits>
#include <vector>

#include "isobar/pictures/sample_picture.hpp"
#include "isobar/pictures/subject.hpp"

namespace isobar::pictures {

/// One sample, reduced to what the drawings need.
struct MapLook {
  std::int64_t sample = 0;
  std::string where{};
  files::Image colours{}, greys{};
  std::vector<std::uint16_t> predicted{}, truth{};  ///< a class for each pixel; truth is empty when unknown
  std::vector<double> overlaps{};  ///< intersection over union of each class; NaN when it does not occur
  /// Mean overlap of all classes except 0, the background; NaN when none of them occurs.
  double score = std::numeric_limits<double>::quiet_NaN();
};

struct MapSurvey {
  std::vector<MapLook> looks{};              ///< in the order of samples
  std::vector<std::size_t> ranked{};         ///< indices of the looks with a score, best first
  std::int64_t scored = 0, consecutive = 0;  ///< scored samples; leading looks that are consecutive in time
  std::string shown{};                       ///< the channel
};

/// The survey of a subject with maps, made at the first call.
const MapSurvey& map_survey(Subject& subject);

}  // namespace isobar::pictures
