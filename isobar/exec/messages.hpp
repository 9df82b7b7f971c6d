// Messages: those of a plan under way on one rank. The engine of the rank moves them while the steps between their
// start and their finish compute.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "isobar/base/step_trace.hpp"
#include "isobar/comm/message_engine.hpp"
#include "isobar/graph/plan.hpp"

namespace isobar::exec {

/// Where a plan talks. All must outlive who gets this.
///
/// Lanes are executors of one plan, with passes under way at the same time. A lane's number is that of the same batch
/// on all ranks, and a lane is used again only when its backward pass is over. Passes of different lanes follow each
/// other in an order in which what one waits for has begun, on the other rank, before that rank waits for this one.
struct TalkSetting {
  std::map<std::string, comm::Comm*> circles{};  ///< by name; nothing else may talk in them
  comm::ReducerOptions limits{};                 ///< how long a wait may be
  StepTrace* trace = nullptr;                    ///< where messages under way are shown; null: nowhere
  int lane = 0, lanes = 1;                       ///< which this is, of how many; their messages are kept apart
};

class Messages {
 public:
  /// A plan that talks in a circle which is not there, or as another rank of it, is a mistake of the program.
  Messages(const graph::Plan& plan, const TalkSetting& setting);
  ~Messages();
  Messages(const Messages&) = delete;

  /// Does what a step that talks says: begins the messages in a buffer, or waits for their end.
  void run(const graph::PlanStep& step, std::span<std::byte> buffer, std::int64_t training_step);
  /// Withdraws what a pass that did not come to its end has left under way.
  void withdraw();
  /// What they have cost since the beginning.
  comm::ExchangeCost cost() const;

 private:
  class Circle;

  TalkSetting setting_;
  std::map<std::string, std::unique_ptr<Circle>> circles_;
  std::set<const graph::PlanStep*> awaited_at_once_;  // starts that nothing hides
};

}  // namespace isobar::exec
