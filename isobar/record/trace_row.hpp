// TraceRow: the row of a lane in trace/rank<r>.json, which trace viewers call a thread: 0 holds the steps, 1 the thread
// that trains, 2 sums in progress (from 1000 on where several overlap), 3 and above reading ahead. Only these functions
// write and read the numbers and names.
#pragma once

#include <optional>
#include <string>

#include <fmt/format.h>

#include "isobar/base/trace.hpp"

namespace isobar::record {

struct TraceRow {
  static constexpr int steps = 0;  ///< the row of whole steps, which is not part of a lane

  Lane lane = Lane::main;
  int place = 0;  ///< among the rows of its lane

  /// The number of the row.
  int number() const {
    if (lane == Lane::main) return 1;
    if (lane == Lane::reader) return first_reader + place;
    return place == 0 ? 2 : further_exchange + place - 1;
  }

  /// The row with this number; nothing for the row of steps.
  static std::optional<TraceRow> of(int number) {
    if (number < 1) return std::nullopt;
    if (number == 1) return TraceRow{Lane::main, 0};
    if (number == 2) return TraceRow{Lane::exchange, 0};
    if (number >= further_exchange) return TraceRow{Lane::exchange, number - further_exchange + 1};
    return TraceRow{Lane::reader, number - first_reader};
  }

  /// What viewers show beside the row.
  std::string name() const {
    const bool counted = lane == Lane::reader || place > 0;
    return counted ? fmt::format("{} {}", lane_name(lane), place + 1) : std::string(lane_name(lane));
  }

  bool operator==(const TraceRow&) const = default;

 private:
  static constexpr int first_reader = 3, further_exchange = 1000;
};

}  // namespace isobar::record
