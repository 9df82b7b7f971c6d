// RunGroups: the groups of ranks a run talks in, made from what split and strategy say of each rank (Placement). Where
// all ranks train in one team, and no model is cut, these are all the same ranks.
#pragma once

#include <memory>
#include <vector>

#include "isobar/comm/comm.hpp"
#include "isobar/parallel/placement.hpp"
#include "isobar/train/job.hpp"

namespace isobar::train {

struct RunGroups {
  /// What this rank of `world` is. All ranks must call; `world` must outlive this.
  RunGroups(comm::Comm& world, const split::Split& split, const parallel::Strategy& strategy);

  bool serves() const { return placement.role == parallel::Roles::Role::serves; }
  /// Who share the samples, and begin together. On ranks that train, like the two below.
  comm::Comm& trainers() const { return own_trainers_ ? *own_trainers_ : all; }
  /// The trainers again, for what is said before the first step: meets no message of a strategy.
  comm::Comm& start() const { return *start_; }
  /// This rank's team, for what is said between steps.
  comm::Comm& talk() const { return talk_ ? *talk_ : *start_; }
  /// The ranks that one model is cut over, this one included; null where each rank has a whole model.
  comm::Comm* replica() const { return replica_.get(); }
  /// Those of start() that have the same part of the model as this one.
  comm::Comm& alike() const { return alike_ ? *alike_ : *start_; }

  comm::Comm& all;
  parallel::Placement placement;
  /// Where models are cut: the numbers in trainers() of alike(), in the order of their shares of the samples.
  std::vector<int> peers{};

 private:
  std::unique_ptr<comm::Comm> own_trainers_, start_, talk_, replica_, alike_;
};

/// Throws NotInPlace if ranks have died and those that are left cannot share a model that is cut over several ranks.
void expect_replicas(const comm::Comm& world, const Job& job);

/// Refuses what needs ranks in lockstep, if teams of this job go at their own pace or ranks train by themselves.
void expect_pace(const RunGroups& groups, const Job& job);

}  // namespace isobar::train
