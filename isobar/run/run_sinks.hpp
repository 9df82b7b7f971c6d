// The sinks of a run: everything that listens to it, shows it or writes its files.
#pragma once

#include <cstdio>
#include <memory>
#include <vector>

#include "isobar/record/surroundings.hpp"
#include "isobar/train/job.hpp"

namespace isobar::run {

/// Where a run shows itself, and what its record says of its surroundings.
struct Showing {
  std::FILE* screen = nullptr;    ///< null: nowhere
  record::Surroundings around{};  ///< rank 0 needs it
};

/// Everything that listens to a run; each says itself when it is its turn.
using RunSinks = std::vector<std::unique_ptr<train::Sink>>;
RunSinks make_sinks(const train::Job& job, const Showing& showing);
std::vector<train::Sink*> listeners(const RunSinks& sinks);

}  // namespace isobar::run
