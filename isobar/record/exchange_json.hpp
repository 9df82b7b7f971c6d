// What exchanging has cost, as an object of timing.jsonl.
#pragma once

#include "isobar/comm/reducer.hpp"
#include "isobar/record/json_member.hpp"

namespace isobar::record {

inline nlohmann::ordered_json cost_to_json(const comm::ExchangeCost& cost) {
  return {{"waited_seconds", cost.waited_seconds},
          {"busy_seconds", cost.busy_seconds},
          {"sums", cost.sums},
          {"messages_sent", cost.traffic.messages},
          {"bytes_sent", cost.traffic.bytes}};
}

/// Nothing where the line has no such object.
inline comm::ExchangeCost cost_in(const nlohmann::json& line, const char* key) {
  if (!line.is_object() || !line.contains(key)) return {};
  const nlohmann::json& cost = line[key];
  return {member<double>(cost, "waited_seconds"),
          member<double>(cost, "busy_seconds"),
          member<std::int64_t>(cost, "sums"),
          {member<std::int64_t>(cost, "messages_sent"), member<std::int64_t>(cost, "bytes_sent")}};
}

}  // namespace isobar::record
