// TeamActor: a team of ranks in lockstep as one actor among others, which goes at its own pace. Inside, sums cost what
// their rounds cost; its first rank talks with the ranks outside, by flows, and speaks for all.
#pragma once

#include "isobar/sim/flow_world.hpp"
#include "isobar/sim/lockstep.hpp"

namespace isobar::sim {

/// The ranks of the team that a rank is in, which trains.
const std::vector<int>& team_of(const parallel::Placement& placed);
/// Whether they are one behind the other in the world.
bool in_one_row(std::span<const int> team);

class TeamActor final : private OtherRanks {
 public:
  /// Of the team that rank `first` of the world is the first of. All must outlive this.
  TeamActor(FlowWorld& world, int first, const Noise& noise);

  Lockstep& ranks() { return ranks_; }
  /// The group of all ranks of the world as the first rank sees it.
  comm::Comm& world_comm() { return *comm_; }

 private:
  double now() const override;
  comm::Ticket send(int to, std::size_t bytes) override;
  std::unique_ptr<comm::GradientMemory> memory(std::size_t floats) override;
  LockstepRanks lockstep(const Noise& noise);

  FlowWorld& world_;
  RankNodes placement_;
  SumCosts costs_;
  Lockstep ranks_;
  std::unique_ptr<comm::Comm> comm_;
};

}  // namespace isobar::sim
