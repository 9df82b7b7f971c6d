#include "isobar/graph/plan_messages.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "isobar/base/text.hpp"

namespace isobar::graph {
namespace {

using ops::Talk;

bool starts(const PlanStep& step) { return step.talk && step.talk->phase == Talk::Phase::start; }

void add(comm::Traffic& sum, const comm::Traffic& more) {
  sum.messages += more.messages;
  sum.bytes += more.bytes;
}

// Those it sends to, in order.
std::set<int> receivers(const Talk& talk) {
  std::set<int> ranks;
  for (const comm::Round& round : talk.moves)
    for (const comm::Move& move : round)
      if (move.is_message_of(talk.rank)) ranks.insert(move.peer);
  return ranks;
}

std::string start_text(const Talk& talk) {
  const comm::Traffic sent = ops::traffic_of(talk);
  if (sent.messages == 0) return fmt::format("from {} of {}", fmt::join(ops::partners_of(talk), ", "), talk.circle);
  return fmt::format("to {} of {}, {} message{}, {}", fmt::join(receivers(talk), ", "), talk.circle, sent.messages,
                     sent.messages == 1 ? "" : "s", human_bytes(static_cast<double>(sent.bytes)));
}

}  // namespace

PassTraffic traffic_of(const Plan& plan) {
  PassTraffic sent;
  for (const StepId s : plan.steps.ids())
    if (starts(plan.steps[s]))
      add(plan.is_forward(s) ? sent.forward : sent.backward, ops::traffic_of(*plan.steps[s].talk));
  return sent;
}

std::map<int, std::int64_t> bytes_by_receiver(const Plan& plan, const std::string& circle) {
  std::map<int, std::int64_t> bytes;
  for (const PlanStep& step : plan.steps) {
    if (!starts(step) || step.talk->circle != circle) continue;
    const std::size_t width = step.talk->type == Talk::Type::floats ? sizeof(float) : sizeof(double);
    for (const comm::Round& round : step.talk->moves)
      for (const comm::Move& move : round)
        if (move.is_message_of(step.talk->rank))
          bytes[move.peer] += static_cast<std::int64_t>(move.range.count * width);
  }
  return bytes;
}

std::vector<NodeMessages> messages_of(const Plan& plan) {
  std::vector<NodeMessages> all;
  for (const PlanStep& step : plan.steps) {
    if (!starts(step)) continue;
    auto found = std::ranges::find(all, step.name, &NodeMessages::node);
    if (found == all.end()) found = all.insert(found, {.node = step.name, .circle = step.talk->circle});
    std::set<int> partners(found->partners.begin(), found->partners.end());
    for (const int partner : ops::partners_of(*step.talk)) partners.insert(partner);
    found->partners.assign(partners.begin(), partners.end());
    add(found->sent, ops::traffic_of(*step.talk));
  }
  return all;
}

std::string message_name(const std::string& node) { return node + " messages"; }

std::string talk_text(const Plan& plan, StepId step) {
  const std::optional<Talk>& talk = plan.steps[step].talk;
  if (!talk) return "";
  if (talk->phase == Talk::Phase::start) return start_text(*talk);
  for (const StepId s : plan.steps.ids())
    if (starts(plan.steps[s]) && plan.steps[s].talk->circle == talk->circle &&
        plan.steps[s].talk->number == talk->number)
      return fmt::format("ends step {}", s.number());
  return "ends what no step starts";
}

}  // namespace isobar::graph
