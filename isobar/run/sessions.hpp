// Sessions: a run whose ranks may die, as a row of trainers: one for every group of ranks that worked together, each
// going on where the one before was left. A run whose ranks do not die is one session.
#pragma once

#include <functional>
#include <optional>

#include "isobar/comm/crew.hpp"
#include "isobar/train/carried.hpp"

namespace isobar::run {

/// Musters, and runs `session` with the group, until one ends by itself: its result. A session must leave nothing
/// behind that uses its group. Nothing when the run ended without this rank. `usable` as in Crew::muster(). What cannot
/// go on in place (NotInPlace) is given up to be started anew.
std::optional<train::End::Reason> run_sessions(comm::Crew& crew, const std::function<int(int available)>& usable,
                                               const std::function<train::End::Reason(comm::Comm& group)>& session);

}  // namespace isobar::run
