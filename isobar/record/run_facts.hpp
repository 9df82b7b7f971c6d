// run_facts: what is known of a run before its first step, as run.json: where and how it runs, its size, its plan. What
// a run does then follows in other files.
#pragma once

#include <memory>

#include "isobar/record/surroundings.hpp"
#include "isobar/train/events.hpp"

namespace isobar::record {

/// Writes run.json whole or not at all; a resumed run replaces it.
std::unique_ptr<train::Sink> run_facts(Surroundings surroundings);

}  // namespace isobar::record
