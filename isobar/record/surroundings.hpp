// Surroundings: what a run cannot know of itself and its record should have: how it was started, with what and where,
// and what that machine can do at best. The program finds out; sinks are given it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "isobar/record/run_record.hpp"

namespace isobar::record {

struct Surroundings {
  std::string command{};                                                   ///< line that started it
  std::vector<std::pair<std::string, std::string>> versions{}, machine{};  ///< name and value, in the order to show
  PeakRecord peaks{};                                                      ///< of all ranks together
};

}  // namespace isobar::record
