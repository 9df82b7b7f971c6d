// What `train` and `demo` share: a run on the ranks of a launcher that shows its progress and can be stopped by
// signals.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "isobar/comm_mpi/world.hpp"
#include "isobar/run/training.hpp"

namespace isobar::cli {

/// Declares --resume, --overwrite, --check, --quiet and --threads.
void add_training_options(CLI::App& command, run::Options& options);

/// Trains until the end or a signal to one of the ranks. Only rank 0 prints. All ranks must call, including spares. The
/// launcher at the other end of `lifeline`, if there is one, is informed of progress and may stop the run.
run::Outcome run_training(const Spec& recipe, const std::string& name, const run::Options& options, comm::Comm& world,
                          comm::Crew& crew, control::Lifeline* lifeline = nullptr);

}  // namespace isobar::cli
