#include "isobar/cli/training.hpp"

#include <cstdio>
#include <omp.h>

#include "isobar/base/text.hpp"
#include "isobar/cli/model.hpp"
#include "isobar/cli/post_mortem.hpp"
#include "isobar/cli/ranks.hpp"
#include "isobar/cli/surroundings.hpp"
#include "isobar/cli/tuned.hpp"
#include "isobar/comm/collectives.hpp"
#include "isobar/ops/tuning_text.hpp"
#include "isobar/pictures/pictures.hpp"
#include "isobar/record/chrome_trace.hpp"
#include "isobar/record/disk_summary.hpp"
#include "isobar/record/json_lines.hpp"
#include "isobar/record/metrics_csv.hpp"
#include "isobar/record/mlperf_log.hpp"
#include "isobar/record/profile.hpp"
#include "isobar/record/progress.hpp"
#include "isobar/record/run_facts.hpp"
#include "isobar/record/run_summary.hpp"
#include "isobar/record/tensorboard.hpp"
#include "isobar/report/curves.hpp"
#include "isobar/report/page.hpp"
#include "isobar/train/sessions.hpp"
#include "isobar/verbs/verb.hpp"

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
  sinks.push_back(post_mortem());
  sinks.push_back(record::progress(showing.screen, showing.quiet, showing.around.peaks.flops_per_second));
  sinks.push_back(record::json_lines());
  sinks.push_back(record::metrics_csv());
  if (job.report.mlperf) sinks.push_back(record::mlperf_log(job));
  sinks.push_back(record::run_facts(showing.around));
  sinks.push_back(record::profile());
  sinks.push_back(record::chrome_trace(job.report.trace_mb * 1'000'000));
  if (job.report.tensorboard) sinks.push_back(record::tensorboard(job.report));
  sinks.push_back(record::run_summary());
  sinks.push_back(report::curves());
  if (job.report.pictures) sinks.push_back(pictures::pictures());
  if (job.report.page) sinks.push_back(report::page_sink());
  sinks.push_back(record::disk_summary());
  return sinks;
}

std::vector<train::Sink*> listeners(const RunSinks& sinks) {
  std::vector<train::Sink*> all;
  for (const auto& sink : sinks) all.push_back(sink.get());
  return all;
}

namespace {

// One run on this rank: what it needs anew whenever the members change, and what stays.
class Training {
 public:
  Training(const Spec& recipe, std::string name, const TrainingOptions& options)
      : recipe_(recipe), name_(std::move(name)), options_(options) {}

  /// Reads the job, before the first session.
  const train::Job& read() { return ready_.emplace(train::read_job(recipe_, name_, make_model)); }

  train::End::Reason session(comm::Comm& group) {
    // As many threads as at the first start, so that the plan and every bit of a step stay what they were.
    const int known = static_cast<int>(comm::all_largest(group, threads_));
    const CoreShare cores(group, known > 0 ? known : options_.threads);
    threads_ = omp_get_max_threads();
    if (!ready_) comm::guarded(group, [&] { read(); });
    train::Job job = std::move(*ready_);
    ready_.reset();
    job.resume = options_.resume;
    job.overwrite = options_.overwrite;
    job.launch = control::launch_id();
    job.placement = cores.text();
    job.remembered_tuning = [model = job.model.resolved](std::int64_t rows) {
      const auto found = known_tuning(model, rows);
      return found ? ops::tuning_text(*found) : std::string();
    };
    const std::string folder = job.folder.string();
    if (!options_.check && known == 0) around_ = surroundings(group, threads_);
    const RunSinks sinks = make_sinks(job, {.screen = stdout, .quiet = options_.quiet, .around = around_});
    cores.bind_communication();  // the strategy starts its threads now
    train::Trainer trainer(std::move(job), group, listeners(sinks), &carried_);
    cores.bind_compute();
    if (options_.check) return say_sound(trainer, group), train::End::Reason::finished;
    const train::End::Reason reason = trainer.run(&stop_requested());
    if (reason == train::End::Reason::interrupted && group.rank() == 0)
      fmt::print(stderr, "isobar: stopped; the same command with --resume goes on from its checkpoint in {}\n", folder);
    evaluated_ = trainer.last_evaluation();
    return reason;
  }

  train::Carried& carried() { return carried_; }
  const train::Evaluated& evaluated() const { return evaluated_; }

 private:
  void say_sound(const train::Trainer& trainer, const comm::Comm& group) const {
    const graph::Plan& plan = trainer.plan();
    const auto micro_batches = static_cast<double>(trainer.batching().micro_batches * group.size());
    if (group.rank() == 0)
      fmt::print("{} is sound: {} parameters, {} a step, {} for activations\n", name_,
                 with_commas(plan.parameter_count()), human_flops(micro_batches * plan.flops()),
                 human_bytes(static_cast<double>(plan.arena_bytes)));
  }

  const Spec& recipe_;
  std::string name_;
  const TrainingOptions& options_;
  std::optional<train::Job> ready_;
  int threads_ = 0;  // since the first session; 0: this rank has had none
  record::Surroundings around_{};
  train::Carried carried_;
  train::Evaluated evaluated_;
};

}  // namespace

train::Evaluated run_training(const Spec& recipe, const std::string& name, const TrainingOptions& options,
                              comm::Comm& world, comm::Crew& crew, control::Lifeline* lifeline) {
  Training training(recipe, name, options);
  const auto usable = comm::guarded(world, [&] {
    const train::Job& job = training.read();
    if (lifeline) lifeline->folder(std::filesystem::absolute(job.folder).string());
    return train::most_ranks(job);
  });
  if (lifeline) {
    training.carried().finished = [lifeline](std::int64_t step) { lifeline->progress(step); };
    lifeline->on_stop([] { stop_requested() = true; });
  }
  if (!options.check) catch_signals(world.rank() == 0);
  const auto reason = train::run_sessions(crew, usable, [&](comm::Comm& group) { return training.session(group); });
  // Another rank may have got the signal; or the run ended without this one.
  if (reason ? *reason == train::End::Reason::interrupted : training.carried().stopping) stop_requested() = true;
  return training.evaluated();
}

}  // namespace isobar::cli
