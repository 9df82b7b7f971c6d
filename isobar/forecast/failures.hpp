// Failures: the total time of a job when nodes fail and it continues from checkpoints. Failures are a Poisson process,
// also while a checkpoint is written or the job restarts. J. T. Daly, "A higher order estimate of the optimum
// checkpoint interval for restart dumps", Future Generation Computer Systems 22 (2006).
#pragma once

#include <cstdint>
#include <string>

#include "isobar/sim/simulate.hpp"

namespace isobar::forecast {

struct FailureCase {
  double work_seconds = 0;        ///< of the job without failures and checkpoints
  double between_seconds = 0;     ///< mean time between failures of all its nodes together; 0: they never fail
  double checkpoint_seconds = 0;  ///< that the job stops for one checkpoint
  double restart_seconds = 0;     ///< from a failure to the state of the last checkpoint
};

/// The best computing time between checkpoints, by Daly's estimate; the whole work if nothing fails.
double best_interval(const FailureCase& c);

/// The expected time of the whole job with a checkpoint after every `interval` seconds of work; exact if the work is a
/// multiple of the interval.
double expected_seconds(const FailureCase& c, double interval);

/// The case of a platform: `nodes` nodes with the failure rate in its file, and `hours` of work; a checkpoint holds
/// weights and optimizer slots and is written by one client of the file system.
FailureCase failure_case(const sim::Platform& platform, const sim::Workload& workload, int nodes, double hours,
                         int optimizer_slots = 2);

}  // namespace isobar::forecast
