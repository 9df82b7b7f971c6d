// RankWork: what a rank does in a simulation, as its placement says: it takes steps of a strategy, or it serves those
// that do; and what came of it, by team.
#pragma once

#include <vector>

#include "isobar/parallel/placement.hpp"
#include "isobar/sim/replay.hpp"
#include "isobar/sim/simulate.hpp"

namespace isobar::sim {

/// The strategy of a scenario, which knows the layers of its model.
std::unique_ptr<parallel::Strategy> strategy_of(const Scenario& scenario);

/// What steps that count have taken. One rank adds to it after the other, or all as one.
class StepTotals {
 public:
  StepTotals(int teams, int steps) : teams_(teams), steps_(steps) {}

  /// What a rank has spent so far.
  struct Spent {
    comm::ExchangeCost exchange{}, talk{};
    double input = 0;
  };
  /// A rank of a team has taken its last step that does not count, or its last one.
  void begin(int team, double now) { teams_[team].begun = std::max(teams_[team].begun, now); }
  void end(int team, double now, const Spent& before, const Spent& after);
  /// What strategies say they do, and what came of it.
  void told(const parallel::Strategy& strategy);

  /// Means over the steps, and over so many ranks.
  Simulated means(double ranks) const;

 private:
  struct Team {
    double begun = 0, ended = 0;  ///< of its last rank
  };
  std::vector<Team> teams_;
  int steps_;
  Spent spent_;
  std::string described_, summary_;
};

/// Does the work of a rank, or of all parts in lockstep; `steps` count behind those that warm up. `waited_for_input` is
/// the seconds so far.
void do_work(const Scenario& scenario, const parallel::Placement& placement, std::span<const Workload* const> parts,
             int steps, comm::Comm& comm, Timeline& timeline, const double& waited_for_input, StepTotals& totals);

/// Steps before those that count.
inline constexpr int warm_steps = 2;

}  // namespace isobar::sim
