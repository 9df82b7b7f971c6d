// Surroundings: what the record of a run needs but the trainer does not know: the command, versions, the machine and
// its peaks. The program collects these and passes them to the sinks.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "isobar/record/run_record.hpp"

namespace isobar::record {

struct Surroundings {
  std::string command{};                                                   ///< line that started the run
  std::vector<std::pair<std::string, std::string>> versions{}, machine{};  ///< name and value, in the order to show
  PeakRecord peaks{};                                                      ///< of all ranks together
};

}  // namespace isobar::record
