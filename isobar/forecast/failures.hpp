// Failures: how long a job takes in the end when nodes fail and it goes on from checkpoints. Failures come as a Poisson
// process, also while a checkpoint is written or the job restarts. J. T. Daly, "A higher order estimate of the optimum
// checkpoint interval for restart dumps", Future Generation Computer Systems 22 (2006).
#pragma once

#include <cstdint>
#include <string>

#include "isobar/sim/simulate.hpp"

namespace isobar::forecast {

struct FailureCase {
  double work_seconds = 0;        ///< of the job if nothing failed and no checkpoint were written
  double between_seconds = 0;     ///< mean time between failures of all its nodes together; 0: they never fail
  double checkpoint_seconds = 0;  ///< the job stands still for one
  double restart_seconds = 0;     ///< from a failure to where the last checkpoint was
};

/// The computing time between checkpoints that is best, by Daly's estimate; all work at once when nothing fails.
double best_interval(const FailureCase& c);

/// What the whole job is expected to take with a checkpoint after every `interval` seconds of work; exact for work that
/// is a multiple of it.
double expected_seconds(const FailureCase& c, double interval);

/// One job with failures at random, drawn by seed: the same again with the same seed.
double drawn_seconds(const FailureCase& c, double interval, std::uint64_t seed);

/// A case on a platform: `nodes` that fail as its file says; a checkpoint holds weights and optimizer slots and is
/// written by one client of the file system; `hours` of work.
FailureCase failure_case(const sim::Platform& platform, const sim::Workload& workload, int nodes, double hours,
                         int optimizer_slots = 2);

}  // namespace isobar::forecast
