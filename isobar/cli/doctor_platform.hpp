// isobar doctor --platform FILE: this machine as a platform file for isobar-sim, with what was measured and, said so,
// what was not.
#pragma once

#include <string>

#include "isobar/machine/links.hpp"
#include "isobar/machine/machine.hpp"
#include "isobar/machine/peaks.hpp"

namespace isobar::cli {

/// What doctor found. With one rank alone there are no links; `nodes` and `ranks` are those it was started on.
struct Measured {
  machine::Machine machine{};
  machine::Peaks peaks{};  ///< of all ranks of a node together
  machine::Links links{};
  std::vector<int> node_of_rank{0};
};

/// The text of the file: every number with how it was found.
std::string platform_of(const Measured& measured);

}  // namespace isobar::cli
