#include "isobar/run/training.hpp"

#include <omp.h>

#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/comm/collectives.hpp"
#include "isobar/comm/local_comm.hpp"
#include "isobar/feeding/surveyed.hpp"
#include "isobar/run/core_share.hpp"
#include "isobar/run/look_around.hpp"
#include "isobar/run/models.hpp"
#include "isobar/run/run_sinks.hpp"
#include "isobar/run/sessions.hpp"

namespace isobar::run {
namespace {

std::string summary_of(const train::Trainer& trainer) {
  const graph::Plan& plan = trainer.plan();
  const train::Batching& batching = trainer.batching();
  const auto rows = static_cast<double>(batching.replicas * batching.micro_batches * batching.rows);
  return fmt::format("{} parameters, {} a step, {} for activations", with_commas(plan.parameter_count()),
                     human_flops(rows * trainer.flops_per_sample()),
                     human_bytes(static_cast<double>(plan.arena_bytes)));
}

}  // namespace

Training::Training(Spec recipe, std::string name, const Options& options, comm::Comm& world)
    : recipe_(std::move(recipe)), name_(std::move(name)), options_(options) {
  ready_.emplace(feeding::surveyed(survey_, world, [&] { return read_job(recipe_, name_, survey_); }));
  folder_ = ready_->folder;
}

// A later session needs a new job: the previous session has used up sources, transforms and strategy.
train::Job Training::next_job() {
  train::Job job = ready_ ? std::move(*ready_) : read_job(recipe_, name_, survey_);
  ready_.reset();
  job.resume = options_.resume;
  job.overwrite = options_.overwrite;
  job.launch = control::launch_id();
  return job;
}

train::End::Reason Training::session(comm::Comm& group, const Outside& outside) {
  // As many threads as at the first start, so that the plan and every bit of a step stay the same.
  const int known = static_cast<int>(comm::all_largest(group, threads_));
  const CoreShare cores(group, known > 0 ? known : options_.threads);
  threads_ = omp_get_max_threads();
  train::Job job = comm::guarded(group, [&] { return next_job(); });
  job.placement = cores.text();
  if (!options_.check && known == 0) around_ = look_around(group, threads_);
  const RunSinks sinks = make_sinks(job, {.screen = options_.screen, .around = around_});
  cores.bind_communication();  // the strategy starts its threads now
  train::Trainer trainer(std::move(job), group, listeners(sinks), &carried_);
  cores.bind_compute();
  outcome_.first = group.rank() == 0;
  if (options_.check) {
    if (trainer.trains()) outcome_.summary = summary_of(trainer);
    return train::End::Reason::finished;
  }
  const train::End::Reason reason = trainer.run(outside.stop);
  if (trainer.trains()) outcome_.evaluated = trainer.last_evaluation();
  return reason;
}

Outcome Training::run(comm::Comm& world, comm::Crew& crew, const Outside& outside) {
  const auto usable = comm::guarded(world, [&] { return train::most_ranks(*ready_); });
  if (control::Lifeline* const lifeline = outside.lifeline) {
    lifeline->folder(std::filesystem::absolute(folder_).string());
    carried_.finished = [lifeline](std::int64_t step) { lifeline->progress(step); };
    if (outside.stop) lifeline->on_stop([stop = outside.stop] { *stop = true; });
  }
  outcome_.reason = run_sessions(crew, usable, [&](comm::Comm& group) { return session(group, outside); });
  outcome_.interrupted = outcome_.reason ? *outcome_.reason == train::End::Reason::interrupted : carried_.stopping;
  return std::move(outcome_);
}

Outcome train_alone(const Spec& recipe, const std::string& name, const Options& options) {
  const auto alone = comm::alone();
  return Training(recipe, name, options, *alone).run(*alone, *comm::fixed_crew(*alone));
}

}  // namespace isobar::run
