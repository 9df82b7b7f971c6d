// Circles: the groups of ranks in which the plans of a run talk.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "isobar/exec/messages.hpp"
#include "isobar/train/run_groups.hpp"
#include "isobar/train/waiting.hpp"

namespace isobar::train {

class Circles {
 public:
  /// The groups and the trace must outlive this; `limits` say how long a wait for other ranks may be.
  Circles(const RunGroups& groups, const WaitLimits& limits, StepTrace& trace)
      : groups_(groups), limits_(limits), trace_(trace) {}

  /// Where a plan talks, valid as long as this. A circle becomes a group of its own, of the ranks that the placement
  /// lists under its name, the first time a plan talks in it: all its ranks must call, with plans of one network in one
  /// order. Plans with a circle in common never run at the same time.
  exec::TalkSetting setting(const graph::Plan& plan);

 private:
  const RunGroups& groups_;
  WaitLimits limits_;
  StepTrace& trace_;
  std::map<std::string, std::unique_ptr<comm::Comm>> made_;
};

}  // namespace isobar::train
