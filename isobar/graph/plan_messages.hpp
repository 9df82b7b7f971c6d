// What the messages of a plan are to people and to programs that show runs: where they go, how many bytes they are, and
// under which name they are seen while they are under way.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "isobar/graph/plan.hpp"

namespace isobar::graph {

/// What this rank sends in one pass over a batch.
struct PassTraffic {
  comm::Traffic forward{}, backward{};
  comm::Traffic all() const { return {forward.messages + backward.messages, forward.bytes + backward.bytes}; }
};
PassTraffic traffic_of(const Plan& plan);

/// The bytes that go to each other rank of a circle in a pass.
std::map<int, std::int64_t> bytes_by_receiver(const Plan& plan, const std::string& circle);

/// The messages that the talking steps of one node start, both passes together.
struct NodeMessages {
  std::string node{}, circle{};
  std::vector<int> partners{};  ///< ranks of the circle that it sends to or receives from, in order
  comm::Traffic sent{};         ///< in one pass forward and one backward
};
/// In the order in which they first start.
std::vector<NodeMessages> messages_of(const Plan& plan);

/// The name of the event that shows what a step starts while it is under way: "conv2 halo messages".
std::string message_name(const std::string& node);

/// Of a step that starts messages "to 0, 2 of replica, 2 messages, 4.20 MB", of one that finishes them "ends step 12";
/// empty for all others.
std::string talk_text(const Plan& plan, StepId step);

}  // namespace isobar::graph
