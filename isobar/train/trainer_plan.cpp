// Everything before the first step: plans, the strategy's memory, who reads which samples, and what the sinks are told.
#include <algorithm>
#include <omp.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/random.hpp"
#include "isobar/base/text.hpp"
#include "isobar/train/run_tuning.hpp"
#include "isobar/train/same_run.hpp"
#include "isobar/train/trainer.hpp"

namespace isobar::train {

void Trainer::plan_run() {
  talk_ = world_.split(0, world_.rank());
  meet_members();
  batching_ = divide_batch(job_, world_.size());
  if (carried_) carried_->batch = batching_.batch;
  const graph::Graph graph = job_.model.graph(batching_.rows);
  tuning_ = run_tuning(job_, batching_.rows, standing_.batch != 0, *talk_);
  graph::Plan plan =
      graph::make_plan(graph, {.memory_limit = job_.memory_limit,
                               .weight_copies = (job_.gradients_in_arena ? 1 : 2) + job_.optimizer->slots(),
                               .tuning = tuning_,
                               .gradients_in_arena = job_.gradients_in_arena});
  expect_fields(plan, *job_.train_data, "data.train");
  if (job_.train_data->size() < batching_.batch)
    fail("data.train has {} samples, fewer than one batch of {}", job_.train_data->size(), batching_.batch);
  expect_same(*talk_, facts_of(job_, plan));
  batches_per_epoch_ = sampler().batches();
  job_.strategy->take_care({.whole = world_.elastic() || tries_again()});
  auto arena = std::make_shared<Block>(plan.arena_bytes);
  std::span<float> gradients = job_.strategy->open(world_, exec::ParamStore::gradient_floats(plan));
  if (gradients.empty()) gradients = exec::arena_gradients(plan, *arena);
  store_ = std::make_unique<exec::ParamStore>(plan, job_.optimizer->slots(), gradients);
  store_->initialize(job_.seed);

  if (job_.test_data) {
    if (job_.test_data->size() == 0) fail("data.test has no samples");
    expect_fields(plan, *job_.test_data, "data.test");
    graph::Plan test_plan =
        graph::make_plan(graph, {.phase = ops::Phase::inference, .stored = store_->layouts(), .tuning = tuning_});
    reset_metrics(test_plan, job_);
    expect_room(plan, test_plan);
    if (!plan.gradients_in_arena && arena->size() < test_plan.arena_bytes)
      arena = std::make_shared<Block>(test_plan.arena_bytes);
    test_executor_ = std::make_unique<exec::Executor>(std::move(test_plan), *store_, nullptr, arena);
  }
  executor_ = std::make_unique<exec::Executor>(std::move(plan), *store_, &trace_.main(), arena);
  replica_ = std::make_unique<parallel::ComputedReplica>(*executor_, *store_, *job_.optimizer, &trace_);
  if (job_.sync_batch_norm && world_.size() > 1) join_batch_norm();
}

// Evaluation shares the arena of training, unless that is too small and cannot be moved because gradients are in it. It
// has nothing to compute again.
void Trainer::expect_room(const graph::Plan& plan, const graph::Plan& test_plan) const {
  const bool apart = plan.gradients_in_arena && test_plan.arena_bytes > plan.arena_bytes;
  const std::size_t needed = plan.memory_bytes() - (apart ? 0 : plan.arena_bytes) + test_plan.arena_bytes;
  if (job_.memory_limit == 0 || needed <= job_.memory_limit) return;
  fail("evaluating batches of {} needs {}, train.memory allows {}: a smaller batch needs less", batching_.rows,
       human_bytes(static_cast<double>(needed)), human_bytes(static_cast<double>(job_.memory_limit)));
}

void Trainer::join_batch_norm() {
  norm_group_ = world_.split(0, world_.rank());
  const std::shared_ptr<comm::Algorithm> algorithm =
      make(comm::all_reduces(), "recursive_doubling", "all-reduce");  // few numbers: what counts is the latency
  sum_within_pass_ = [this, algorithm, group = comm::group_of(*norm_group_)](std::span<float> numbers) {
    const double begin = now_seconds();
    comm::run(*norm_group_, algorithm->schedule(group, numbers.size()), numbers);
    trace_.main().record({Category::communication, norm_name_, position_.step, begin, now_seconds() - begin, 0,
                          static_cast<double>(numbers.size_bytes())});
  };
}

// A rank that sees samples of its own takes its part of every batch from them, in an order of its own.
data::Sampler Trainer::sampler() const {
  const std::int64_t samples = job_.train_data->size();
  if (!staged_.own_samples) return {samples, batching_.batch, job_.seed, job_.shuffle, true};
  const std::uint64_t seed = mix(job_.seed, static_cast<std::uint64_t>(world_.rank()));
  return {samples, batching_.batch / world_.size(), seed, job_.shuffle, true};
}

data::LoaderOptions Trainer::loader_options() {
  data::LoaderOptions options{job_.readers, job_.ahead};
  if (!staged_.own_samples) options.rank = world_.rank(), options.size = world_.size();
  options.epoch = position_.epoch;
  options.step = position_.step_in_epoch;
  options.last_epoch = job_.epochs;
  options.training = true;
  options.on_bad = job_.on_bad;
  options.trace = &trace_;
  // No step takes batches of two epochs.
  options.held = static_cast<int>(std::min(job_.ramp->largest(), batches_per_epoch_));
  return options;
}

void Trainer::stage() {
  world_.note("staging the data");
  const double begin = now_seconds();
  staged_ = stage_data(job_, job_.folder / "learned.h5", world_);
  expect_fields(plan(), *job_.train_data, "data.train");
  if (job_.test_data) expect_fields(plan(), *job_.test_data, "data.test");
  if (staged_.own_samples && standing_.ahead >= 0)
    throw NotInPlace("every rank sees samples of its own (data.staging), which other ranks cannot take over");
  if (staged_.own_samples && batching_.batch % world_.size() != 0)
    fail("a batch of {} cannot be shared equally by {} ranks that each see samples of their own (data.staging)",
         batching_.batch, world_.size());
  const data::Sampler mine = sampler();
  if (job_.train_data->size() < mine.batch)
    fail("data.train has {} samples after staging, fewer than one batch of {}", job_.train_data->size(), mine.batch);
  batches_per_epoch_ = mine.batches();
  meet("staging");
  staging_seconds_ = now_seconds() - begin;
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
  start.first_epoch = position_.epoch;
  if (carried_) start.changes = carried_->changes;
  start.arena_bytes = plan().arena_bytes;
  start.weight_bytes = store_->bytes() - (plan().gradients_in_arena ? plan().weight_bytes() : 0);
  start.good_state_bytes = good_states_.bytes();
  start.snapshot_bytes = snapshot_bytes(*store_, kept(), world_.size());
  start.threads = omp_get_max_threads();
  start.ranks = world_.size();
  start.nodes = 1 + *std::ranges::max_element(world_.nodes());
  start.global_batch = batching_.batch;
  start.batching = batching_.describe();
  start.strategy = job_.strategy->describe();
  start.placement = job_.placement;
  start.staging_seconds = staging_seconds_;
  start.rank = world_.rank();
  start.node = world_.nodes()[static_cast<std::size_t>(world_.rank())];
  start.plan = &plan();
  start.tuned = tuning_ ? static_cast<std::int64_t>(tuning_->all().size()) : 0;
  start.store = store_.get();
  if (first() && test_executor_) viewer_ = std::make_unique<Viewer>(*test_executor_, *job_.test_data);
  for (Sink* sink : sinks_) sink->start(start);
  tell_again(start);
}

}  // namespace isobar::train
