// Geography: where on Earth and when the samples of a data set are, in terms of the CF conventions. Predictions for
// them are written with it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace isobar::datasets {

/// One axis of a grid: its name, the places along it, and their attributes: units, standard_name, ...
struct GridAxis {
  std::string name{};
  std::vector<double> places{};  ///< empty if not known
  std::vector<std::pair<std::string, std::string>> attributes{};
};

struct Geography {
  GridAxis row, column;  ///< the first two axes of x: latitude and longitude, or other rows and columns
  /// "hours since 2000-01-01 00:00:00" and the calendar; empty if samples have no times.
  std::string time_units{}, calendar{};
  std::function<double(std::int64_t sample)> time{};  ///< in these units; valid while the data set exists
};

/// The axis of time, without places.
inline GridAxis time_axis(const Geography& geography) {
  return {"time", {}, {{"standard_name", "time"}, {"units", geography.time_units}, {"calendar", geography.calendar}}};
}

}  // namespace isobar::datasets
