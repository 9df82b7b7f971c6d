// isobar doctor --platform FILE: this machine as a platform file for isobar-sim; the file says which numbers were
// measured and which were not.
#pragma once

#include <string>

#include "isobar/machine/links.hpp"
#include "isobar/machine/machine.hpp"
#include "isobar/machine/peaks.hpp"

namespace isobar::cli {

/// What doctor measured. With a single rank there are no links.
struct Measured {
  machine::Machine machine{};
  machine::Peaks peaks{};  ///< of all ranks of a node together
  machine::Links links{};
  std::vector<int> node_of_rank{0};
};

/// The text of the file: every number with its origin.
std::string platform_of(const Measured& measured);

}  // namespace isobar::cli
