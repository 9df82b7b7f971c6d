// Target: a quality that a run should reach, "mae<=0.124"; if set before the run, it makes time to solution fair.
#pragma once

#include <string>
#include <string_view>

namespace isobar::train {

struct Target {
  std::string metric;   ///< as evaluations name it: mae, accuracy, top_5, loss
  bool larger = false;  ///< whether larger is better
  double value = 0;

  bool reached(double result) const { return larger ? result >= value : result <= value; }
  std::string str() const;
};

/// Reads NAME<=NUMBER or NAME>=NUMBER; anything else is a UsageError.
Target read_target(std::string_view text);

/// Whether larger is better, by the name of a result: accuracy, iou.cyclone, mae, loss.
bool larger_is_better(std::string_view metric);

}  // namespace isobar::train
