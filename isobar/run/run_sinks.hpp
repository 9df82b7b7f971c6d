// The sinks of a run: everything that listens to it, shows it or writes its files.
#pragma once

#include <cstdio>
#include <memory>
#include <vector>

#include "isobar/record/surroundings.hpp"
#include "isobar/train/job.hpp"

namespace isobar::run {

/// Where a run shows progress, and the surroundings for its record.
struct Showing {
  std::FILE* screen = nullptr;    ///< null: nowhere
  record::Surroundings around{};  ///< needed on rank 0
};

/// All sinks of a run; the turn() of each decides when it is called.
using RunSinks = std::vector<std::unique_ptr<train::Sink>>;
RunSinks make_sinks(const train::Job& job, const Showing& showing);
std::vector<train::Sink*> listeners(const RunSinks& sinks);

}  // namespace isobar::run
