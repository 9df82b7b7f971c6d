// Scaling the width of a network that has a published table of channels; scale=1 is the table itself.
#pragma once

#include <cstdint>

#include "isobar/base/spec.hpp"

namespace isobar::zoo {

class WidthScaling {
 public:
  /// Reads `scale`, which multiplies all numbers of channels inside the network.
  explicit WidthScaling(Args& args) : scale_(args.real("scale", 1)) {
    args.require(scale_ > 0 && scale_ <= 64, "scale multiplies the channels and must be above 0 and at most 64");
  }

  /// The multiple of `unit` nearest to channels * scale, at least one unit.
  std::int64_t operator()(std::int64_t channels, std::int64_t unit = 1) const {
    const auto units = static_cast<std::int64_t>(scale_ * static_cast<double>(channels) / unit + 0.5);
    return unit * (units < 1 ? 1 : units);
  }

 private:
  double scale_;
};

}  // namespace isobar::zoo
