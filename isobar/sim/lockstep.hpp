// Lockstep: all ranks of a group as one. Strategies do the same on every rank, so the code runs once, and what differs,
// the ranks' clocks, is a vector. A sum begins when the last rank has come; those under way share the links.
#pragma once

#include <memory>
#include <vector>

#include "isobar/comm/comm.hpp"
#include "isobar/comm/reducer.hpp"
#include "isobar/sim/input.hpp"
#include "isobar/sim/noise.hpp"
#include "isobar/sim/replay.hpp"
#include "isobar/sim/shared_core.hpp"
#include "isobar/sim/sum_costs.hpp"

namespace isobar::sim {

class Lockstep final : public Timeline {
 public:
  /// Every rank needs so many seconds to read a batch, and of its core for a byte it sends. `costs` must outlive this.
  Lockstep(const RankNodes& placement, const Noise& noise, double read_seconds, double core_seconds_per_byte,
           SumCosts& costs, const Without& without);

  void begin_step(std::int64_t step) override;
  void compute(double seconds) override;
  double now() const override;

  /// A group of all ranks for a strategy; it is rank 0 as far as anyone asks. Must not outlive this.
  std::unique_ptr<comm::Comm> comm();
  /// Means over ranks, since the beginning.
  const double& waited_for_input() const { return waited_for_input_; }

  /// Begins a sum of so many numbers and returns its number.
  int begin_sum(const Spec& asked, std::size_t count, const codec::Codec& codec, comm::ExchangeCost& cost);
  /// When it ends; after this none may begin earlier.
  double end_of_sum(int sum) { return links_.end(sum); }
  /// All ranks wait until a time; returns for how long, on average.
  double wait_until(double end);
  SumCosts& costs() { return costs_; }
  const RankNodes& placement() const { return placement_; }

 private:
  RankNodes placement_;
  Noise noise_;
  SumCosts& costs_;
  Without without_;
  std::vector<double> clocks_, factors_;
  std::vector<ReadAhead> loaders_;
  std::vector<SharedCore> cores_;
  double core_seconds_per_byte_;
  LinkShares links_;
  double waited_for_input_ = 0;
};

}  // namespace isobar::sim
