// MapSurvey: how well a network marks the places of each class, sample by sample, and drawings of some of these
// samples: the best, a typical one and the worst, and those that follow each other in time.
#pragma once

#include <limits>
#include <vector>

#include "isobar/pictures/sample_picture.hpp"
#include "isobar/pictures/subject.hpp"

namespace isobar::pictures {

/// One sample, reduced to what is drawn.
struct MapLook {
  std::int64_t sample = 0;
  std::string where{};
  files::Image colours{}, greys{};
  std::vector<std::uint16_t> predicted{}, truth{};  ///< a class for each pixel; truth is empty when it is not known
  std::vector<double> overlaps{};  ///< intersection over union of each class; NaN when it does not occur
  /// Mean of the overlaps of the classes but 0, which is the ground; NaN when none of them occurs.
  double score = std::numeric_limits<double>::quiet_NaN();
};

struct MapSurvey {
  std::vector<MapLook> looks{};              ///< in the order of samples
  std::vector<std::size_t> ranked{};         ///< those with a score, by falling score, places in looks
  std::int64_t scored = 0, consecutive = 0;  ///< samples the ranks are out of; the first looks that follow in time
  std::string shown{};                       ///< the channel
};

/// Made when it is first asked for, for a subject with maps.
const MapSurvey& map_survey(Subject& subject);

}  // namespace isobar::pictures
