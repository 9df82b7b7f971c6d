// Batch ramps: the factor of a step's batch relative to the recipe's, a pure function of the samples seen so far,
// counted in epochs. Steps would be no measure of progress, because the ramp decides how many samples a step takes.
#pragma once

#include <cstdint>

#include "isobar/optim/rate_schedule.hpp"

namespace isobar::optim {

/// The largest factor a ramp may have.
inline constexpr std::int64_t max_batch_factor = 1 << 20;

class BatchRamp {
 public:
  virtual ~BatchRamp() = default;
  /// The factor of the next step, at least 1; it depends on progress.epochs() and total_epochs() alone.
  virtual std::int64_t factor(const Progress& progress) const = 0;
  /// An upper bound of all factors.
  virtual std::int64_t largest() const = 0;
};

/// All ramps; made with make(batch_ramps(), "steps(at=[2], factors=[4])", "batch ramp").
Table<Row<BatchRamp>> batch_ramps();

}  // namespace isobar::optim
