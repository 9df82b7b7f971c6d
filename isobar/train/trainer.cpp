#include "isobar/train/trainer.hpp"

#include <algorithm>
#include <omp.h>
#include <sstream>

#include "isobar/base/clock.hpp"
#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/random.hpp"
#include "isobar/base/text.hpp"
#include "isobar/comm/local_comm.hpp"
#include "isobar/train/run_folder.hpp"
#include "isobar/train/same_run.hpp"

namespace isobar::train {

Trainer::Trainer(Job job, comm::Comm& world, std::vector<Sink*> sinks)
    : Trainer(std::move(job), nullptr, &world, std::move(sinks)) {}

Trainer::Trainer(Job job, std::vector<Sink*> sinks)
    : Trainer(std::move(job), comm::alone(), nullptr, std::move(sinks)) {}

Trainer::Trainer(Job job, std::unique_ptr<comm::Comm> alone, comm::Comm* world, std::vector<Sink*> sinks)
    : job_(std::move(job)),
      alone_(std::move(alone)),
      world_(world ? *world : *alone_),
      sinks_(world_.rank() == 0 ? std::move(sinks) : std::vector<Sink*>{}),
      wait_name_(trace_.intern("waiting for input")) {
  comm::guarded(world_, [&] { plan_run(); });
}

void Trainer::plan_run() {
  talk_ = world_.split(0, world_.rank());
  batching_ = divide_batch(job_, world_.size());
  const graph::Graph graph = job_.model.graph(batching_.rows);
  graph::Plan plan = graph::make_plan(graph);
  expect_fields(plan, *job_.train_data, "data.train");
  if (job_.train_data->size() < batching_.batch)
    fail("data.train has {} samples, fewer than one batch of {}", job_.train_data->size(), batching_.batch);
  expect_same(*talk_, facts_of(job_, plan));
  batches_per_epoch_ = sampler().batches();
  const std::span<float> gradients = job_.strategy->open(world_, exec::ParamStore::gradient_floats(plan));
  store_ = std::make_unique<exec::ParamStore>(plan, job_.optimizer->slots(), gradients);
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

// A rank that sees samples of its own takes its part of every batch from them, in an order of its own.
data::Sampler Trainer::sampler() const {
  const std::int64_t samples = job_.train_data->size();
  if (!staged_.own_samples) return {samples, batching_.batch, job_.seed, job_.shuffle, true};
  const std::uint64_t seed = mix(job_.seed, static_cast<std::uint64_t>(world_.rank()));
  return {samples, batching_.batch / world_.size(), seed, job_.shuffle, true};
}

data::LoaderOptions Trainer::loader_options() const {
  data::LoaderOptions options{job_.readers, job_.ahead};
  if (!staged_.own_samples) options.rank = world_.rank(), options.size = world_.size();
  options.epoch = position_.epoch;
  options.step = position_.step_in_epoch;
  options.last_epoch = job_.epochs;
  options.training = true;
  options.on_bad = job_.on_bad;
  // No step takes batches of two epochs.
  options.held = static_cast<int>(std::min(job_.ramp->largest(), batches_per_epoch_));
  return options;
}

void Trainer::stage() {
  world_.note("staging the data");
  staged_ = stage_data(job_, job_.folder / "learned.h5", world_);
  expect_fields(plan(), *job_.train_data, "data.train");
  if (job_.test_data) expect_fields(plan(), *job_.test_data, "data.test");
  if (staged_.own_samples && batching_.batch % world_.size() != 0)
    fail("a batch of {} cannot be shared equally by {} ranks that each see samples of their own (data.staging)",
         batching_.batch, world_.size());
  const data::Sampler mine = sampler();
  if (job_.train_data->size() < mine.batch)
    fail("data.train has {} samples after staging, fewer than one batch of {}", job_.train_data->size(), mine.batch);
  batches_per_epoch_ = mine.batches();
  for (const std::int64_t theirs : comm::all_gather_number(*talk_, batches_per_epoch_))
    batches_per_epoch_ = std::min(batches_per_epoch_, theirs);
}

void Trainer::announce() {
  Start start;
  start.recipe = job_.recipe;
  start.folder = job_.folder;
  start.parameters = plan().parameter_count();
  start.flops_per_sample = plan().flops() / static_cast<double>(batching_.rows);
  start.train_samples = job_.train_data->size();
  start.test_samples = job_.test_data ? job_.test_data->size() : 0;
  start.epochs = job_.epochs;
  start.steps_per_epoch = batches_per_epoch_;
  start.first_step = position_.step;
  start.arena_bytes = plan().arena_bytes;
  start.weight_bytes = store_->bytes();
  start.threads = omp_get_max_threads();
  start.ranks = world_.size();
  start.nodes = 1 + *std::ranges::max_element(world_.nodes());
  start.global_batch = batching_.batch;
  start.batching = batching_.describe();
  start.strategy = job_.strategy->describe();
  start.placement = job_.placement;
  for (Sink* sink : sinks_) sink->start(start);
}

End::Reason Trainer::run(const std::atomic<bool>* stop) {
  return comm::guarded(world_, [&] { return run_guarded(stop); });
}

End::Reason Trainer::run_guarded(const std::atomic<bool>* stop) {
  position_ = open_run(job_, batching_, *store_, kept(), *talk_);
  stage();
  announce();
  const double begin = now_seconds();
  const bool interrupted = position_.epoch < job_.epochs && !train_epochs(stop);
  if (!interrupted && test_executor_ && evaluated_.results.empty())  // resumed after the last epoch
    evaluated_ = evaluate(*test_executor_, job_, *talk_, nullptr);
  save();
  const End::Reason reason = interrupted ? End::Reason::interrupted : End::Reason::finished;
  finish(reason, now_seconds() - begin);
  return reason;
}

// False when stopped before the end.
bool Trainer::train_epochs(const std::atomic<bool>* stop) {
  data::Sampler order = sampler();
  order.most_batches = batches_per_epoch_;
  data::Loader loader(*job_.train_data, order, loader_options());
  bool interrupted = false;
  while (position_.epoch < job_.epochs && !interrupted) {
    const double epoch_begin = now_seconds();
    interrupted = !train_epoch(loader, stop) || !finish_epoch(now_seconds() - epoch_begin, stop);
  }
  note_skipped(loader);
  return !interrupted;
}

// False when stopped during the evaluation: it is then done again after a resume.
bool Trainer::finish_epoch(double train_seconds, const std::atomic<bool>* stop) {
  EpochDone done{position_.epoch + 1, position_.step,
                 position_.loss_sum / static_cast<double>(std::max<std::int64_t>(1, position_.loss_samples))};
  if (position_.loss_samples == 0 && position_.skipped > 0)
    fail("epoch {}: all {} samples are bad", done.epoch, position_.skipped);
  done.train_seconds = train_seconds;
  const double begin = now_seconds();
  const bool last = done.epoch == job_.epochs;
  if (last) job_.strategy->finish(*replica_);
  evaluated_ = {};
  if (test_executor_ && (last || (job_.evaluate_every > 0 && done.epoch % job_.evaluate_every == 0))) {
    world_.note(fmt::format("evaluation after epoch {}", done.epoch));
    job_.strategy->settle(*replica_);
    evaluated_ = evaluate(*test_executor_, job_, *talk_, stop);
  }
  if (!evaluated_.complete) return false;
  done.test = evaluated_.results;
  if (job_.on_bad == data::OnBad::skip) {
    done.skipped = position_.skipped;
    if (!evaluated_.results.empty()) done.test_skipped = evaluated_.skipped;
  }
  done.test_seconds = now_seconds() - begin;
  position_ = {.step = position_.step, .epoch = done.epoch, .batch = position_.batch};
  for (Sink* sink : sinks_) sink->epoch(done);
  if (!last && job_.checkpoint_every > 0 && done.epoch % job_.checkpoint_every == 0) save();
  return true;
}

void Trainer::note_skipped(const data::Loader& loader) {
  constexpr std::size_t most_shown = 8;
  std::int64_t skipped[] = {loader.skipped()};
  sum_over_ranks(*talk_, skipped);
  skipped_ = skipped[0];
  if (skipped_ == 0) return;
  std::string reasons;
  for (const std::string& reason : loader.first_skipped()) reasons += one_line(reason, 400) + "\n";
  collect(*talk_, std::as_bytes(std::span(reasons)), [&](int, std::span<const std::byte> theirs) {
    std::istringstream lines(std::string(reinterpret_cast<const char*>(theirs.data()), theirs.size()));
    for (std::string line; first_skipped_.size() < most_shown && std::getline(lines, line);)
      first_skipped_.push_back(line);
  });
}

void Trainer::save() {
  world_.note(fmt::format("checkpoint after step {}", position_.step));
  job_.strategy->settle(*replica_);
  if (!first()) return;
  const double begin = now_seconds();
  const auto bytes = write_checkpoint(checkpoint_file(job_), *store_, position_, write_recipe(job_.recipe), kept());
  const CheckpointDone done{checkpoint_file(job_), position_.step, static_cast<double>(bytes), now_seconds() - begin};
  for (Sink* sink : sinks_) sink->checkpoint(done);
}

void Trainer::finish(End::Reason reason, double seconds) {
  End end;
  end.reason = reason;
  end.steps = position_.step;
  end.seconds = seconds;
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
  end.staging = staged_.counters();
  end.exchange = job_.strategy->cost();
  end.step_seconds = step_seconds_;
  for (Sink* sink : sinks_) sink->end(end);
  comm::barrier(*talk_);  // no rank leaves before the last file is written: one that fails there ends all
}

}  // namespace isobar::train
