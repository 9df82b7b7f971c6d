#include "isobar/report/message_times.hpp"

#include <algorithm>
#include <map>

#include "isobar/graph/plan_messages.hpp"

namespace isobar::report {

std::vector<MessageTime> message_times(const record::RunRecord& run, std::span<const record::TraceEvent> events) {
  std::vector<MessageTime> all;
  for (const record::PlannedMessages& planned : run.messages) all.push_back({planned});
  std::map<std::string, MessageTime*> under_way, waits;  // by the name of an event
  for (MessageTime& each : all) {
    under_way[graph::message_name(each.planned.node)] = &each;
    for (const record::PlannedStep& step : run.plan)
      if (step.talk == "finish" && step.name == each.planned.node) waits[step.name + " " + step.kernel] = &each;
  }
  for (const record::TraceEvent& event : events) {
    if (const auto found = under_way.find(event.name); event.lane == Lane::exchange && found != under_way.end()) {
      found->second->under_way_seconds += event.seconds;
      found->second->bytes += event.bytes;
    }
    if (const auto found = waits.find(event.name); event.lane == Lane::main && found != waits.end())
      found->second->waited_seconds += event.seconds;
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &MessageTime::waited_seconds);
  return all;
}

}  // namespace isobar::report
