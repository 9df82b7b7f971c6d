// Target: a quality that a run is to reach, "mae<=0.124"; set before the run, it makes time to solution a fair figure.
#pragma once

#include <string>
#include <string_view>

namespace isobar::train {

struct Target {
  std::string metric;   ///< as evaluations name it: mae, accuracy, top_5, loss
  bool larger = false;  ///< is better
  double value = 0;

  bool reached(double result) const { return larger ? result >= value : result <= value; }
  std::string str() const;
};

/// Reads NAME<=NUMBER or NAME>=NUMBER; anything else is a UsageError that says so.
Target read_target(std::string_view text);

/// Whether more is better, by the name of a metric's value: accuracy, iou.cyclone, mae, loss.
bool larger_is_better(std::string_view metric);

}  // namespace isobar::train
