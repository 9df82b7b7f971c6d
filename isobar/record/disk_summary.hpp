// disk_summary: at the end of a run, lists the files that could not be written, if any, on rank 0.
#pragma once

#include <memory>

#include "isobar/train/events.hpp"

namespace isobar::record {

/// Its turn is last, after all others have written.
std::unique_ptr<train::Sink> disk_summary();

}  // namespace isobar::record
