// Talk: messages between ranks inside a network's pass, as data. A kernel that talks computes nothing: it begins the
// messages of a schedule, or returns when they are over; what lies between the two hides them. Both kernels are views
// of one buffer, which holds what is sent and what arrives.
#pragma once

#include <string>

#include "isobar/comm/schedule.hpp"

namespace isobar::ops {

struct Talk {
  enum class Phase { start, finish } phase = Phase::start;
  std::string circle{};    ///< the ranks that talk, by the name of their circle: "replica"
  int rank = 0;            ///< this one among them
  comm::Schedule moves{};  ///< of this rank, over the numbers of the buffer; only the start has them
  enum class Type { floats, doubles } type = Type::floats;  ///< of the numbers in the buffer
  int number = 0;  ///< equal for a start and its finish, and on all ranks that talk; no other talk of the circle has it
};

/// What this rank sends.
comm::Traffic traffic_of(const Talk& talk);
/// The ranks it exchanges messages with, in order.
std::vector<int> partners_of(const Talk& talk);

}  // namespace isobar::ops
