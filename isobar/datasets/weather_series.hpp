// Frames of one atmosphere at regular hours, with their labels: the data set `atmosphere` serves them,
// write_atmosphere() writes them to files and `isobar data animate` draws them. Frame i is the state `hours` * i after
// the start.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isobar/base/spec.hpp"
#include "isobar/datasets/geography.hpp"
#include "isobar/worlds/atmosphere.hpp"

namespace isobar::datasets {

/// Which weather, and when.
struct WeatherOptions {
  worlds::AtmosphereOptions atmosphere;
  std::string start = "2000-01-01";  ///< the day of frame 0, in years of 365 days
  int hours = 3;                     ///< from frame to frame
};

/// One state and its labels by the usual and the relaxed rules, as class numbers.
struct WeatherFrame {
  std::vector<float> state;  ///< [height, width, 16]
  std::vector<std::uint8_t> labels[2];
};

/// Makes frames in any order; may be used by several threads at once.
class WeatherSeries {
 public:
  explicit WeatherSeries(const WeatherOptions& options);

  std::int64_t hour(std::int64_t frame) const { return start_ + frame * options_.hours; }
  WeatherFrame make(std::int64_t frame) const;
  /// The name of a frame's file without its extension: data-YYYY-MM-DD-TT-R, with TT in steps of three hours.
  std::string name(std::int64_t frame) const;

  const worlds::Atmosphere& atmosphere() const { return atmosphere_; }
  const WeatherOptions& options() const { return options_; }
  /// Everything that determines the numbers at any hour, as a Spec to compare and to store with them.
  Spec settings() const;

 private:
  WeatherOptions options_;
  std::int64_t start_;
  worlds::Atmosphere atmosphere_;
};

/// The grid of a series and the times of its frames, valid while the series exists.
Geography geography_of(const WeatherSeries& series);

}  // namespace isobar::datasets
