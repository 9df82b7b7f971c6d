#include "isobar/ops/talk.hpp"

#include <set>

#include "isobar/comm/walk.hpp"

namespace isobar::ops {

comm::Traffic traffic_of(const Talk& talk) {
  const std::size_t width = talk.type == Talk::Type::floats ? 1 : 2;
  comm::Traffic traffic;
  for (const comm::Round& round : talk.moves)
    for (const comm::Move& move : round) {
      if (!move.is_message_of(talk.rank)) continue;
      const std::size_t floats = move.range.count * width;
      traffic.messages += static_cast<std::int64_t>(comm::Walk::messages(floats));
      traffic.bytes += static_cast<std::int64_t>(floats * sizeof(float));
    }
  return traffic;
}

std::vector<int> partners_of(const Talk& talk) {
  std::set<int> partners;
  for (const comm::Round& round : talk.moves)
    for (const comm::Move& move : round)
      if (move.peer != talk.rank) partners.insert(move.peer);
  return {partners.begin(), partners.end()};
}

}  // namespace isobar::ops
