#include "isobar/cli/training.hpp"

#include <cstdio>
#include <omp.h>

#include "isobar/base/text.hpp"
#include "isobar/cli/model.hpp"
#include "isobar/cli/ranks.hpp"
#include "isobar/cli/surroundings.hpp"
#include "isobar/cli/verb.hpp"
#include "isobar/report/chrome_trace.hpp"
#include "isobar/report/curves.hpp"
#include "isobar/report/json_lines.hpp"
#include "isobar/report/metrics_csv.hpp"
#include "isobar/report/mlperf_log.hpp"
#include "isobar/report/page.hpp"
#include "isobar/report/pictures.hpp"
#include "isobar/report/profile.hpp"
#include "isobar/report/progress.hpp"
#include "isobar/report/run_facts.hpp"
#include "isobar/report/run_summary.hpp"
#include "isobar/report/tensorboard.hpp"

namespace isobar::cli {

void add_training_options(CLI::App& command, TrainingOptions& options) {
  auto* resume =
      command.add_flag("--resume", options.resume, "go on from the newest intact checkpoint in the run folder");
  command.add_flag("--overwrite", options.overwrite, "replace a run that is already in the folder")->excludes(resume);
  command.add_flag("--check", options.check,
                   "read the recipe, plan the network, look at the data; train and write nothing");
  command.add_flag("--quiet", options.quiet, "show nothing but errors");
  command.add_option("--threads", options.threads, "threads to compute with (default: all cores)")
      ->check(CLI::Range(1, 4096));
}

RunSinks make_sinks(const train::Job& job, const Showing& showing) {
  RunSinks sinks;
  sinks.push_back(report::progress(showing.screen, showing.quiet, showing.around.peaks.flops_per_second));
  sinks.push_back(report::json_lines());
  sinks.push_back(report::metrics_csv());
  if (job.report.mlperf) sinks.push_back(report::mlperf_log(job));
  sinks.push_back(report::run_facts(showing.around));
  sinks.push_back(report::profile());
  sinks.push_back(report::chrome_trace(job.report.trace_mb * 1'000'000));
  if (job.report.tensorboard) sinks.push_back(report::tensorboard(job.report));
  sinks.push_back(report::run_summary());
  sinks.push_back(report::curves());
  if (job.report.pictures) sinks.push_back(report::pictures());
  if (job.report.page) sinks.push_back(report::page_sink());  // last: it reads what the others wrote
  return sinks;
}

std::vector<train::Sink*> listeners(const RunSinks& sinks) {
  std::vector<train::Sink*> all;
  for (const auto& sink : sinks) all.push_back(sink.get());
  return all;
}

train::Evaluated run_training(const Spec& recipe, const std::string& name, const TrainingOptions& options,
                              comm::Comm& world) {
  const bool shows = world.rank() == 0;
  const CoreShare cores(world, options.threads);
  train::Job job = comm::guarded(world, [&] { return train::read_job(recipe, name, make_model); });
  job.resume = options.resume;
  job.overwrite = options.overwrite;
  job.placement = cores.text();
  const std::string folder = job.folder.string();
  Showing showing{.screen = stdout, .quiet = options.quiet};
  if (!options.check) showing.around = surroundings(world, omp_get_max_threads());
  const RunSinks sinks = make_sinks(job, showing);
  cores.bind_communication();  // the strategy starts its threads now
  train::Trainer trainer(std::move(job), world, listeners(sinks));
  cores.bind_compute();
  if (options.check) {
    const graph::Plan& plan = trainer.plan();
    const auto micro_batches = static_cast<double>(trainer.batching().micro_batches * world.size());
    if (shows)
      fmt::print("{} is sound: {} parameters, {} a step, {} for activations\n", name,
                 with_commas(plan.parameter_count()), human_flops(micro_batches * plan.flops()),
                 human_bytes(static_cast<double>(plan.arena_bytes)));
    return {};
  }
  catch_signals();
  if (trainer.run(&stop_requested()) == train::End::Reason::interrupted) {
    stop_requested() = true;  // another rank may have got the signal
    if (shows)
      fmt::print(stderr, "isobar: stopped; the same command with --resume goes on from its checkpoint in {}\n", folder);
  }
  return trainer.last_evaluation();
}

}  // namespace isobar::cli
