// run_facts: writes what is known about a run before its first step to run.json: where and how it runs, its size, its
// plan. What happens later is in other files.
#pragma once

#include <memory>

#include "isobar/record/surroundings.hpp"
#include "isobar/train/events.hpp"

namespace isobar::record {

/// Writes run.json whole or not at all; a resumed run replaces it.
std::unique_ptr<train::Sink> run_facts(Surroundings surroundings);

}  // namespace isobar::record
