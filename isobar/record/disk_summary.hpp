// disk_summary: at the end of a run it names the files that could not be written, on rank 0 and if there are any.
#pragma once

#include <memory>

#include "isobar/train/events.hpp"

namespace isobar::record {

/// The last in the list of sinks, so that all others have written.
std::unique_ptr<train::Sink> disk_summary();

}  // namespace isobar::record
