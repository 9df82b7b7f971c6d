// Frames of one atmosphere at regular hours, with their labels: what the data set `atmosphere` serves,
// write_atmosphere() puts into files and `isobar data animate` draws. Frame i is the state `hours` * i after the start.
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

/// One state and its labels by the usual and the relaxed rules; class numbers.
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
  /// The name a frame's file has without its extension: data-YYYY-MM-DD-TT-R, TT counting in steps of three hours.
  std::string name(std::int64_t frame) const;

  const worlds::Atmosphere& atmosphere() const { return atmosphere_; }
  const WeatherOptions& options() const { return options_; }
  /// Everything that decides the numbers of any hour, as a Spec to compare and to keep beside them.
  Spec settings() const;

 private:
  WeatherOptions options_;
  std::int64_t start_;
  worlds::Atmosphere atmosphere_;
};

/// The grid of a series and the times of its frames, which live as long as the series.
Geography geography_of(const WeatherSeries& series);

}  // namespace isobar::datasets
