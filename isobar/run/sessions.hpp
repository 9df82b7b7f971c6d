// Sessions: a run whose ranks may die, as a sequence of trainers, one for every group of ranks that works together;
// each continues where the previous one stopped. A run in which no rank dies is one session.
#pragma once

#include <functional>
#include <optional>

#include "isobar/comm/crew.hpp"
#include "isobar/train/carried.hpp"

namespace isobar::run {

/// Musters a group and runs `session` with it, again and again until a session ends normally; returns its result, or
/// nothing if the run ended without this rank. A session must leave nothing behind that uses its group. `usable` is as
/// in Crew::muster(). A run that cannot continue in place (NotInPlace) is given up, to be started again.
std::optional<train::End::Reason> run_sessions(comm::Crew& crew, const std::function<int(int available)>& usable,
                                               const std::function<train::End::Reason(comm::Comm& group)>& session);

}  // namespace isobar::run
