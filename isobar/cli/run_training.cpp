#include "isobar/cli/run_training.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "isobar/verbs/verb.hpp"

namespace isobar::cli {

void add_training_options(CLI::App& command, run::Options& options) {
  options.screen = stdout;
  auto* resume =
      command.add_flag("--resume", options.resume, "continue from the newest intact checkpoint in the run folder");
  command.add_flag("--overwrite", options.overwrite, "replace a run that is already in the folder")->excludes(resume);
  command.add_flag("--check", options.check,
                   "read the recipe, plan the network, look at the data; train and write nothing");
  command.add_flag_callback(
      "--quiet", [&options] { options.screen = nullptr; }, "show nothing but errors");
  command.add_option("--threads", options.threads, "threads to compute with (default: all cores)")
      ->check(CLI::Range(1, 4096));
}

run::Outcome run_training(const Spec& recipe, const std::string& name, const run::Options& options, comm::Comm& world,
                          comm::Crew& crew, control::Lifeline* lifeline) {
  auto training = comm::guarded(world, [&] { return std::make_unique<run::Training>(recipe, name, options, world); });
  if (!options.check) catch_signals(world.rank() == 0);
  const run::Outcome outcome = training->run(world, crew, {.stop = &stop_requested(), .lifeline = lifeline});
  if (outcome.first && options.check) fmt::print("{} is sound: {}\n", name, outcome.summary);
  if (outcome.first && outcome.interrupted)
    fmt::print(stderr, "isobar: stopped; the same command with --resume continues from its checkpoint in {}\n",
               training->folder().string());
  // Another rank may have received the signal, or the run ended without this rank.
  if (outcome.interrupted) stop_requested() = true;
  return outcome;
}

}  // namespace isobar::cli
