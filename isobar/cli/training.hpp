// What `train` and `demo` share: from a recipe to a run that shows itself and can be stopped.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "isobar/base/spec.hpp"
#include "isobar/comm/crew.hpp"
#include "isobar/control/lifeline.hpp"
#include "isobar/record/surroundings.hpp"
#include "isobar/train/trainer.hpp"

namespace isobar::cli {

struct TrainingOptions {
  bool resume = false, overwrite = false, quiet = false;
  bool check = false;  ///< stop before the first step
  int threads = 0;     ///< 0: what OpenMP chooses
};

void add_training_options(CLI::App& command, TrainingOptions& options);

/// Where and how loud a run shows itself.
struct Showing {
  std::FILE* screen = stdout;
  bool quiet = false;
  record::Surroundings around{};  ///< for its record; rank 0 needs it
};

/// Everything that listens to a run, in the order it is told.
using RunSinks = std::vector<std::unique_ptr<train::Sink>>;
RunSinks make_sinks(const train::Job& job, const Showing& showing);
std::vector<train::Sink*> listeners(const RunSinks& sinks);

/// Trains with the ranks of a crew until the end or a signal to one of them; when some die the others go on. Returns
/// what was predicted for the test set, on rank 0 of the group, which alone shows anything. With `check` it only plans
/// the run, compares data and network, and says what it would do. All ranks of `world` must call, spares too.
/// The launcher at the other end of `lifeline`, if there is one, learns where the run is kept and which steps are
/// finished, and may stop it.
train::Evaluated run_training(const Spec& recipe, const std::string& name, const TrainingOptions& options,
                              comm::Comm& world, comm::Crew& crew, control::Lifeline* lifeline = nullptr);

}  // namespace isobar::cli
