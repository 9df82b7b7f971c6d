// Lockstep: all ranks of a group as one. Strategies do the same on every rank, so the code runs once, and what differs,
// the ranks' clocks, is a vector. A sum begins when the last rank has come; those under way share the links. Within
// passes parts of a model go side by side, and messages from clock to clock: a rank waits for those that send to it,
// and for no other. A group may be one of several teams that go at their own pace.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "isobar/comm/comm.hpp"
#include "isobar/comm/reducer.hpp"
#include "isobar/parallel/placement.hpp"
#include "isobar/sim/input.hpp"
#include "isobar/sim/noise.hpp"
#include "isobar/sim/replay.hpp"
#include "isobar/sim/shared_core.hpp"
#include "isobar/sim/side_by_side.hpp"
#include "isobar/sim/sum_costs.hpp"

namespace isobar::sim {

/// The ranks around a team, with whom its first rank talks, as the team sees them.
class OtherRanks {
 public:
  virtual ~OtherRanks() = default;
  /// The clock by which the first rank has talked so far.
  virtual double now() const = 0;
  /// The first rank sends so many bytes to a rank of the team; Lockstep::has_arrived() hears of it.
  virtual comm::Ticket send(int to, std::size_t bytes) = 0;
  virtual std::unique_ptr<comm::GradientMemory> memory(std::size_t floats) = 0;
};

/// Who is in lockstep, what they compute, and what disturbs them. All must outlive the Lockstep.
struct LockstepRanks {
  RankNodes placement{};
  std::span<const parallel::Placement> ranks{};  ///< of these, by rank
  std::span<const Workload* const> parts{};
  const Noise& noise;
  double read_seconds = 0;           ///< that every rank needs for a batch
  double core_seconds_per_byte = 0;  ///< that it sends
  Without without{};
  OtherRanks* others = nullptr;  ///< null: there are no others
};

class Lockstep final : public Timeline, private PartClocks {
 public:
  Lockstep(const LockstepRanks& ranks, SumCosts& costs);

  void begin_step(std::int64_t step) override;
  void compute(double seconds) override;
  void compute_parts(std::span<const double> seconds) override;
  void play_parts(std::span<const std::vector<PartStretch>> parts) override;
  comm::ExchangeCost talk_cost() const override;
  double now() const override;

  /// A group of all ranks for a strategy; it is rank 0 as far as anyone asks. Must not outlive this.
  std::unique_ptr<comm::Comm> comm();
  /// Means over ranks, since the beginning.
  const double& waited_for_input() const { return waited_for_input_; }

  /// Begins a sum of so many numbers and returns its number.
  int begin_sum(const Spec& asked, std::size_t count, const codec::Codec& codec, comm::ExchangeCost& cost);
  /// Begins to bring so many bytes of every rank to all.
  int begin_gathering(std::size_t bytes, comm::ExchangeCost& cost);
  /// All ranks are busy for so long, noise or not.
  void spend(double seconds);
  GatheredCost gathered(std::size_t count, std::size_t bytes) const {
    return costs_.gathered(count, bytes, all_.without);
  }
  /// When it ends; after this none may begin earlier.
  double end_of_sum(int sum) { return links_.end(sum); }
  /// All ranks wait until a time; returns for how long, on average.
  double wait_until(double end);
  /// What the first rank has sent to all has arrived.
  void has_arrived(double at);
  /// When the first rank is through with all so far.
  double first_now() const { return std::max(clocks_[0], all_.others ? all_.others->now() : 0); }
  SumCosts& costs() { return costs_; }
  const RankNodes& placement() const { return all_.placement; }
  OtherRanks* others() const { return all_.others; }

 private:
  void compute_part(int part, double seconds) override;
  void begin_talk(int part, JointTalk& joint) override;
  void meet(JointTalk& joint) override;
  void end_talk(int part, const JointTalk& joint) override;
  const TalkCost& cost_of(const JointTalk& joint);
  double wait_until(int rank, double end);
  // The first rank may have talked meanwhile.
  void catch_up() { clocks_[0] = first_now(); }

  const LockstepRanks all_;
  SumCosts& costs_;
  std::vector<std::vector<int>> ranks_of_part_;
  SideBySide parts_;
  std::vector<double> clocks_, factors_;
  std::vector<ReadAhead> loaders_;
  std::vector<SharedCore> cores_;
  LinkShares links_;
  double waited_for_input_ = 0;
  std::map<std::vector<const ops::Talk*>, TalkCost> talks_;  // by what begins them
  double talk_waited_ = 0, talk_messages_ = 0, talk_bytes_ = 0;
};

}  // namespace isobar::sim
