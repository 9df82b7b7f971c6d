// What a run leaves when a rank fails: post_mortem/rank<r>.txt in its folder (isobar/post_mortem/post_mortem.hpp).
#pragma once

#include <memory>

#include "isobar/train/events.hpp"

namespace isobar::run {

/// A sink on every rank: from the start of a run on, crashes and errors leave their reports in its folder, and rank 0
/// alone tells of disks that are full.
std::unique_ptr<train::Sink> post_mortem_sink();

}  // namespace isobar::run
