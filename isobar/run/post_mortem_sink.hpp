// What a run leaves when a rank fails: post_mortem/rank<r>.txt in its folder (isobar/post_mortem/post_mortem.hpp).
#pragma once

#include <memory>

#include "isobar/train/events.hpp"

namespace isobar::run {

/// A sink for every rank: once a run has started, crashes and errors leave reports in its folder, and only rank 0 warns
/// of full disks.
std::unique_ptr<train::Sink> post_mortem_sink();

}  // namespace isobar::run
