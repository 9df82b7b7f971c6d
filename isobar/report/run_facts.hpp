// run_facts: what is known of a run before its first step, as run.json: where and how it runs, its size, its plan. What
// a run does then follows in other files.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "isobar/report/run_record.hpp"
#include "isobar/train/events.hpp"

namespace isobar::report {

/// What the trainer does not know: the program and the machine.
struct Surroundings {
  std::string command{};
  std::vector<std::pair<std::string, std::string>> versions{}, machine{};
  PeakRecord peaks{};
};

/// Writes run.json whole or not at all; a resumed run replaces it.
std::unique_ptr<train::Sink> run_facts(Surroundings surroundings);

}  // namespace isobar::report
