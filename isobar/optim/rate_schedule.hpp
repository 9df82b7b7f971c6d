// Learning-rate schedules: pure functions from the optimizer's base rate and the progress of the run to the rate of one
// step; the losses of evaluations are part of the progress. Factors are relative to the base rate, so one schedule
// serves every optimizer and every batch size.
#pragma once

#include <cstdint>
#include <span>

#include "isobar/base/row.hpp"

namespace isobar::optim {

/// Where a run stands before a step. With a batch ramp, a step of factor f counts as f steps, so that the number of
/// steps per epoch stays the same.
struct Progress {
  std::int64_t step = 0;             ///< steps finished
  std::int64_t steps_per_epoch = 1;  ///< of this run, at its global batch
  std::int64_t total_steps = 1;      ///< planned length of the run
  std::int64_t global_batch = 1;     ///< samples of the next step over all ranks, including the factor of a ramp
  /// The losses of all evaluations so far, in order, on the set by which the run is judged.
  std::span<const double> judged_losses{};

  /// Whole epochs finished: 0 throughout the first epoch.
  std::int64_t epoch() const { return step / steps_per_epoch; }
  /// Epochs finished, including the fraction.
  double epochs() const { return static_cast<double>(step) / steps_per_epoch; }
  /// Planned length of the run in epochs.
  double total_epochs() const { return static_cast<double>(total_steps) / steps_per_epoch; }
};

/// Says which learning rate the next step uses.
class RateSchedule {
 public:
  virtual ~RateSchedule() = default;
  virtual double rate(double base, const Progress& progress) const = 0;
  /// Whether it depends on judged_losses.
  virtual bool follows_losses() const { return false; }
};

/// All schedules; made with make(rate_schedules(), "cosine(end=0.01)", "rate schedule").
Table<Row<RateSchedule>> rate_schedules();

/// The schedule in the argument `then` of a wrapping schedule; the default is constant.
std::unique_ptr<RateSchedule> read_inner(Args& args);

/// Reads `epochs`, the length of a decay (0 means the whole run), and returns the part of it that is over, in [0, 1].
class Elapsed {
 public:
  explicit Elapsed(Args& args);
  double part(const Progress& progress) const;

 private:
  double epochs_;
};

/// Reads `end`, the final factor of a decay, in [0, 1].
double read_end(Args& args);

}  // namespace isobar::optim
