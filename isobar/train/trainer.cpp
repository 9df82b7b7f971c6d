#include "isobar/train/trainer.hpp"

#include <cmath>
#include <fstream>
#include <omp.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"
#include "isobar/comm/local_comm.hpp"

namespace isobar::train {

Trainer::Trainer(Job job, std::vector<Sink*> sinks)
    : job_(std::move(job)), sinks_(std::move(sinks)), wait_name_(trace_.intern("waiting for input")) {
  const graph::Graph graph = job_.model.graph(job_.batch);
  graph::Plan plan = graph::make_plan(graph);
  expect_fields(plan, *job_.train_data, "data.train");
  if (job_.train_data->size() < job_.batch)
    fail("data.train has {} samples, fewer than one batch of {}", job_.train_data->size(), job_.batch);
  steps_per_epoch_ = sampler().batches();
  store_ = std::make_unique<exec::ParamStore>(plan, job_.optimizer->slots());
  store_->initialize(job_.seed);

  auto arena = std::make_shared<Block>();
  if (job_.test_data) {
    if (job_.test_data->size() == 0) fail("data.test has no samples");
    expect_fields(plan, *job_.test_data, "data.test");
    graph::Plan test_plan = graph::make_plan(graph, {.phase = ops::Phase::inference, .stored = store_->layouts()});
    reset_metrics(test_plan, job_);
    arena = std::make_shared<Block>(std::max(plan.arena_bytes, test_plan.arena_bytes));
    test_executor_ = std::make_unique<exec::Executor>(std::move(test_plan), *store_, nullptr, arena);
  }
  executor_ = std::make_unique<exec::Executor>(std::move(plan), *store_, &trace_, arena);
  replica_ = std::make_unique<parallel::ComputedReplica>(*executor_, *store_, *job_.optimizer, &trace_);
}

data::Sampler Trainer::sampler() const { return {job_.train_data->size(), job_.batch, job_.seed, job_.shuffle, true}; }

void Trainer::prepare_folder() {
  namespace fs = std::filesystem;
  std::error_code problem;
  fs::create_directories(job_.folder, problem);
  if (problem) fail("run folder '{}' cannot be made: {}", job_.folder.string(), problem.message());
  const fs::path recipe = job_.folder / "recipe.toml";
  if (job_.resume) {
    if (!fs::exists(checkpoint_file())) fail("run folder '{}' has no checkpoint to resume from", job_.folder.string());
    position_ = read_checkpoint(checkpoint_file(), *store_);
  } else if (fs::exists(recipe) && !job_.overwrite) {
    fail(
        "run folder '{}' already holds a run: --resume goes on with it, --overwrite replaces it, --set folder=... uses "
        "another",
        job_.folder.string());
  } else {
    for (const char* name : {"checkpoint.h5", "metrics.jsonl", "timing.jsonl", "report.txt", "predictions.csv",
                             "learned.h5", "curves.svg"})
      fs::remove(job_.folder / name, problem);
  }
  std::ofstream out(recipe);
  out << write_recipe(job_.recipe);
  out.close();
  if (!out) fail("recipe '{}' cannot be written", recipe.string());
}

void Trainer::announce() {
  Start start;
  start.recipe = job_.recipe;
  start.folder = job_.folder;
  start.parameters = plan().parameter_count();
  start.flops_per_sample = plan().flops() / static_cast<double>(job_.batch);
  start.train_samples = job_.train_data->size();
  start.test_samples = job_.test_data ? job_.test_data->size() : 0;
  start.epochs = job_.epochs;
  start.steps_per_epoch = steps_per_epoch_;
  start.first_step = position_.step;
  start.arena_bytes = plan().arena_bytes;
  start.weight_bytes = store_->bytes();
  start.threads = omp_get_max_threads();
  for (Sink* sink : sinks_) sink->start(start);
}

// Alone for now: the strategies of one process have one rank.
void Trainer::stage() {
  const auto comm = comm::alone();
  staged_ = stage_data(job_, *comm);
  expect_fields(plan(), *job_.train_data, "data.train");
  if (job_.test_data) expect_fields(plan(), *job_.test_data, "data.test");
  if (job_.train_data->size() < job_.batch)
    fail("data.train has {} samples after staging, fewer than one batch of {}", job_.train_data->size(), job_.batch);
  steps_per_epoch_ = sampler().batches();
}

void Trainer::note_skipped(const data::Loader& loader) {
  skipped_ = loader.skipped();
  first_skipped_ = loader.first_skipped();
}

End::Reason Trainer::run(const std::atomic<bool>* stop) {
  prepare_folder();
  stage();
  if (job_.pipeline) job_.pipeline->learn(*job_.source, job_.folder / "learned.h5", job_.readers);
  announce();
  const double begin = now_seconds();
  bool interrupted = false;
  if (position_.epoch < job_.epochs) {
    data::LoaderOptions options{job_.readers, job_.ahead};
    options.epoch = position_.epoch;
    options.step = position_.step_in_epoch;
    options.training = true;
    options.last_epoch = job_.epochs;
    options.on_bad = job_.on_bad;
    data::Loader loader(*job_.train_data, sampler(), options);
    while (position_.epoch < job_.epochs && !interrupted) {
      const double epoch_begin = now_seconds();
      interrupted = !train_epoch(loader, stop) || !finish_epoch(now_seconds() - epoch_begin, stop);
    }
    note_skipped(loader);
  }
  if (!interrupted && test_executor_ && evaluated_.results.empty())  // resumed after the last epoch
    evaluated_ = evaluate(*test_executor_, job_, nullptr);
  job_.strategy->finish(*replica_);
  save();
  End end;
  end.reason = interrupted ? End::Reason::interrupted : End::Reason::finished;
  end.steps = position_.step;
  end.seconds = now_seconds() - begin;
  end.test = evaluated_.results;
  end.target_names = job_.model.target_names;
  if (test_executor_) {
    for (const graph::PlanInput& input : test_executor_->plan().inputs)
      if (input.name == "y") end.target_shape = sample_shape(input.shape);
  }
  end.predictions = evaluated_.predictions;
  end.targets = evaluated_.targets;
  end.trace = &trace_;
  if (job_.on_bad == data::OnBad::skip) end.skipped = skipped_;
  end.first_skipped = first_skipped_;
  end.staging = staged_();
  for (Sink* sink : sinks_) sink->end(end);
  return end.reason;
}

// False when stopped before the end of the epoch.
bool Trainer::train_epoch(data::Loader& loader, const std::atomic<bool>* stop) {
  while (true) {
    if (stop && *stop) return false;
    const double begin = now_seconds();
    const double waited = loader.wait_seconds();
    const data::Batch* batch = loader.next();
    if (!batch) return true;
    const double wait = loader.wait_seconds() - waited;
    trace_.record({Category::input_output, wait_name_, position_.step + 1, begin, wait, 0, 0});
    train_step(*batch, begin, wait);
  }
}

void Trainer::train_step(const data::Batch& batch, double begin, double wait_seconds) {
  position_.skipped += batch.skipped;
  if (batch.count == 0) {  // nothing but bad samples: a step without an update, so that positions stay what they are
    ++position_.step;
    ++position_.step_in_epoch;
    return;
  }
  const optim::Progress progress{position_.step, steps_per_epoch_, steps_per_epoch_ * job_.epochs, job_.batch};
  const optim::Step step{position_.step + 1, job_.rate->rate(job_.optimizer->base_rate(), progress)};
  const parallel::Feed feed{
      named_inputs(plan(), *job_.train_data, batch),
      {.seed = job_.seed, .step = step.index, .epoch = batch.epoch, .samples = batch.samples, .rows = batch.count}};
  const double loss = job_.strategy->step(*replica_, {&feed, 1}, step);
  if (!std::isfinite(loss))
    fail("the loss became {} at step {} (epoch {}): a smaller learning rate than {:g} may help", loss, step.index,
         batch.epoch + 1, step.learning_rate);
  ++position_.step;
  ++position_.step_in_epoch;
  position_.loss_sum += loss * batch.count;
  position_.loss_samples += batch.count;
  const StepDone done{position_.step, batch.epoch + 1,    position_.step_in_epoch, batch.count,
                      loss,           step.learning_rate, now_seconds() - begin,   wait_seconds};
  for (Sink* sink : sinks_) sink->step(done);
}

// False when stopped during the evaluation: it is then done again after a resume.
bool Trainer::finish_epoch(double train_seconds, const std::atomic<bool>* stop) {
  EpochDone done{position_.epoch + 1, position_.step,
                 position_.loss_sum / static_cast<double>(std::max<std::int64_t>(1, position_.loss_samples))};
  done.train_seconds = train_seconds;
  const double begin = now_seconds();
  const bool last = done.epoch == job_.epochs;
  evaluated_ = {};
  if (test_executor_ && (last || (job_.evaluate_every > 0 && done.epoch % job_.evaluate_every == 0)))
    evaluated_ = evaluate(*test_executor_, job_, stop);
  if (!evaluated_.complete) return false;
  done.test = evaluated_.results;
  if (job_.on_bad == data::OnBad::skip) {
    done.skipped = position_.skipped;
    if (!evaluated_.results.empty()) done.test_skipped = evaluated_.skipped;
  }
  done.test_seconds = now_seconds() - begin;
  position_ = {position_.step, done.epoch, 0, 0, 0, 0};
  for (Sink* sink : sinks_) sink->epoch(done);
  if (!last && job_.checkpoint_every > 0 && done.epoch % job_.checkpoint_every == 0) save();
  return true;
}

void Trainer::save() {
  const double begin = now_seconds();
  const auto bytes = write_checkpoint(checkpoint_file(), *store_, position_, write_recipe(job_.recipe));
  const CheckpointDone done{checkpoint_file(), position_.step, static_cast<double>(bytes), now_seconds() - begin};
  for (Sink* sink : sinks_) sink->checkpoint(done);
}

}  // namespace isobar::train
