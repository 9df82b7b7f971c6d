// What ranks must agree on before and between steps. All ranks must call these functions, in the same order.
#pragma once

#include <span>
#include <string>

#include "isobar/comm/collectives.hpp"
#include "isobar/train/waiting.hpp"

namespace isobar::train {

/// Returns when all ranks have called it. A rank may be busy for long; the others wait as long as it answers.
void meet(comm::Comm& comm, const WaitLimits& limits, const std::string& what);

/// Something that must be the same on all ranks: its name, and its value as text.
struct Fact {
  std::string name, value;
};

/// Compares all facts with those of the group's first rank; the first difference is an Error that names both values.
void expect_same(comm::Comm& comm, std::span<const Fact> facts);

}  // namespace isobar::train
