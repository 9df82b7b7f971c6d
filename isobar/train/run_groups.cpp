#include "isobar/train/run_groups.hpp"

#include "isobar/comm/crew.hpp"
#include "isobar/train/carried.hpp"

namespace isobar::train {
namespace {

const comm::Circle* circle(const parallel::Placement& placement, std::string_view name) {
  for (const comm::Circle& each : placement.circles)
    if (each.name == name) return &each;
  return nullptr;
}

}  // namespace

RunGroups::RunGroups(comm::Comm& world, const split::Split& split, const parallel::Strategy& strategy) : all(world) {
  const std::vector<parallel::Placement> placements = parallel::place(split, strategy, world.size());
  placement = placements[world.rank()];
  if (serves()) return;
  std::vector<int> training;
  for (int rank = 0; rank < world.size(); ++rank)
    if (placements[rank].role == parallel::Roles::Role::trains) training.push_back(rank);
  if (std::ssize(training) < world.size()) own_trainers_ = world.among(training);
  start_ = duplicate(trainers());
  if (placement.teams > 1) talk_ = world.among(circle(placement, "team")->ranks);
  if (const comm::Circle* const replica = circle(placement, "replica")) {
    replica_ = world.among(replica->ranks);
    for (int i = 0; i < std::ssize(training); ++i)
      if (placements[training[i]].part == placement.part) peers.push_back(i);
    alike_ = trainers().among(peers);
  }
}

void expect_replicas(const comm::Comm& world, const Job& job) {
  const int ways = job.split->ways(), ranks = world.size() - job.strategy->traits().servers;
  if (!world.elastic() || world.epoch() <= comm::first_epoch || ranks % ways == 0) return;
  throw NotInPlace(fmt::format(
      "{} rank{} left of a run whose model is cut over {} (parallel.split): it continues from its newest "
      "checkpoint, by 'isobar train RECIPE --resume' on {}, {}, ... ranks, or with --set parallel.split=none "
      "on any number",
      ranks, ranks == 1 ? " is" : "s are", ways, ways, 2 * ways));
}

void expect_pace(const RunGroups& groups, const Job& job) {
  if (job.strategy->traits().servers > 0 && job.numbers.policy == BadNumbers::Policy::rewind)
    fail_usage(
        "train.bad_numbers = 'rewind' needs weights and optimizer state on the ranks that train; with this strategy "
        "servers keep them: use 'skip' or 'stop'");
  if (job.sync_batch_norm && job.strategy->traits().members_apart)
    fail_usage(
        "train.sync_batch_norm normalises the batches of all ranks together; with this strategy each rank trains a "
        "network by itself: leave it false");
  if (groups.placement.teams == 1) return;
  const auto refuse = [](bool wanted, std::string_view what) {
    if (wanted)
      fail_usage("{} needs ranks that take their steps together; with this strategy each goes at its own pace", what);
  };
  refuse(job.deterministic, "train.deterministic");
  refuse(job.sync_batch_norm, "train.sync_batch_norm");
  refuse(job.numbers.policy == BadNumbers::Policy::rewind, "train.bad_numbers = 'rewind'");
  refuse(job.rate->follows_losses(), "a rate that follows the losses of evaluations ('plateau')");
  refuse(job.patience > 0, "train.patience");
}

}  // namespace isobar::train
