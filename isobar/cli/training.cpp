#include "isobar/cli/training.hpp"

#include <cstdio>
#include <omp.h>

#include "isobar/base/text.hpp"
#include "isobar/cli/model.hpp"
#include "isobar/cli/verb.hpp"
#include "isobar/report/curves.hpp"
#include "isobar/report/json_lines.hpp"
#include "isobar/report/progress.hpp"
#include "isobar/report/run_summary.hpp"

namespace isobar::cli {

void add_training_options(CLI::App& command, TrainingOptions& options) {
  auto* resume = command.add_flag("--resume", options.resume, "go on from the checkpoint in the run folder");
  command.add_flag("--overwrite", options.overwrite, "replace a run that is already in the folder")->excludes(resume);
  command.add_flag("--check", options.check,
                   "read the recipe, plan the network, look at the data; train and write nothing");
  command.add_flag("--quiet", options.quiet, "show nothing but errors");
  command.add_option("--threads", options.threads, "threads to compute with (default: all cores)")
      ->check(CLI::Range(1, 4096));
}

train::Evaluated run_training(const Spec& recipe, const std::string& name, const TrainingOptions& options) {
  if (options.threads > 0) omp_set_num_threads(options.threads);
  train::Job job = train::read_job(recipe, name, make_model);
  job.resume = options.resume;
  job.overwrite = options.overwrite;
  const std::string folder = job.folder.string();
  const auto progress = report::progress(stdout, options.quiet);
  const auto metrics = report::json_lines();
  const auto summary = report::run_summary();
  const auto curves = report::curves();
  train::Trainer trainer(std::move(job), {progress.get(), metrics.get(), summary.get(), curves.get()});
  if (options.check) {
    const graph::Plan& plan = trainer.plan();
    fmt::print("{} is sound: {} parameters, {} a step, {} for activations\n", name, with_commas(plan.parameter_count()),
               human_flops(plan.flops()), human_bytes(static_cast<double>(plan.arena_bytes)));
    return {};
  }
  catch_signals();
  if (trainer.run(&stop_requested()) == train::End::Reason::interrupted)
    fmt::print(stderr, "isobar: stopped; the same command with --resume goes on from {}/checkpoint.h5\n", folder);
  return trainer.last_evaluation();
}

}  // namespace isobar::cli
