#include "isobar/train/session.hpp"

#include <algorithm>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/random.hpp"
#include "isobar/base/text.hpp"
#include "isobar/train/agreement.hpp"
#include "isobar/train/carried.hpp"
#include "isobar/train/feeds.hpp"
#include "isobar/train/run_tuning.hpp"
#include "isobar/train/same_run.hpp"

namespace isobar::train {

Session::Session(Job job, comm::Comm& world, comm::Comm& talk, StepTrace& trace, bool under_way)
    : job_(std::move(job)), world_(world), talk_(talk), trace_(trace), batching_(divide_batch(job_, world.size())) {
  plan_network(under_way, trace);
  if (job_.sync_batch_norm && world_.size() > 1) norm_ = std::make_unique<JointNorm>(world_, trace_);
}

void Session::plan_network(bool under_way, StepTrace& trace) {
  const graph::Graph graph = job_.split->cut(job_.model.graph(batching_.rows), 0).graph;
  network_.tuning = run_tuning(job_, batching_.rows, under_way, talk_);
  graph::Plan plan = graph::make_plan(graph, plan_options(job_, network_.tuning));
  expect_fields(plan, *job_.train_data, "data.train");
  if (job_.train_data->size() < batching_.batch)
    fail("data.train has {} samples, fewer than one batch of {}", job_.train_data->size(), batching_.batch);
  expect_same(talk_, facts_of(job_, plan));
  batches_per_epoch_ = sampler().batches();
  auto arena = std::make_shared<Block>(plan.arena_bytes);
  std::span<float> gradients = job_.strategy->open(world_, exec::ParamStore::gradient_floats(plan),
                                                   {.whole = world_.elastic() || job_.numbers.tries_again()});
  if (gradients.empty()) gradients = exec::arena_gradients(plan, *arena);
  network_.store = std::make_unique<exec::ParamStore>(plan, job_.optimizer->slots(), gradients);
  exec::ParamStore& store = *network_.store;
  store.initialize(job_.seed);
  if (job_.test_data) {
    if (job_.test_data->size() == 0) fail("data.test has no samples");
    expect_fields(plan, *job_.test_data, "data.test");
    graph::Plan test_plan =
        graph::make_plan(graph, {.phase = ops::Phase::inference, .stored = store.layouts(), .tuning = network_.tuning});
    reset_metrics(test_plan, job_);
    expect_room(plan, test_plan);
    if (!plan.gradients_in_arena && arena->size() < test_plan.arena_bytes)
      arena = std::make_shared<Block>(test_plan.arena_bytes);
    network_.tests = std::make_unique<exec::Executor>(std::move(test_plan), store, nullptr, arena);
  }
  network_.trains = std::make_unique<exec::Executor>(std::move(plan), store, &trace.main(), arena);
  network_.replica = std::make_unique<parallel::ComputedReplica>(*network_.trains, store, *job_.optimizer, &trace);
}

// Evaluation shares the arena of training, unless that is too small and cannot be moved because gradients are in it. It
// has nothing to compute again.
void Session::expect_room(const graph::Plan& plan, const graph::Plan& test_plan) const {
  const bool apart = plan.gradients_in_arena && test_plan.arena_bytes > plan.arena_bytes;
  const std::size_t needed = plan.memory_bytes() - (apart ? 0 : plan.arena_bytes) + test_plan.arena_bytes;
  if (job_.memory_limit == 0 || needed <= job_.memory_limit) return;
  fail("evaluating batches of {} needs {}, train.memory allows {}: a smaller batch needs less", batching_.rows,
       human_bytes(static_cast<double>(needed)), human_bytes(static_cast<double>(job_.memory_limit)));
}

// A rank that sees samples of its own takes its part of every batch from them, in an order of its own.
datasets::Sampler Session::sampler() const {
  const std::int64_t samples = job_.train_data->size();
  if (!staged_.own_samples) return {samples, batching_.batch, job_.seed, job_.shuffle, true};
  const std::uint64_t seed = mix(job_.seed, static_cast<std::uint64_t>(world_.rank()));
  return {samples, batching_.batch / world_.size(), seed, job_.shuffle, true};
}

void Session::stage(bool takes_over) {
  world_.note("staging the data");
  const double begin = now_seconds();
  staged_ = stage_data(job_, job_.folder / "learned.h5", world_);
  expect_fields(plan(), *job_.train_data, "data.train");
  if (job_.test_data) expect_fields(plan(), *job_.test_data, "data.test");
  if (staged_.own_samples && takes_over)
    throw NotInPlace("every rank sees samples of its own (data.staging), which other ranks cannot take over");
  if (staged_.own_samples && batching_.batch % world_.size() != 0)
    fail("a batch of {} cannot be shared equally by {} ranks that each see samples of their own (data.staging)",
         batching_.batch, world_.size());
  const datasets::Sampler mine = sampler();
  if (job_.train_data->size() < mine.batch)
    fail("data.train has {} samples after staging, fewer than one batch of {}", job_.train_data->size(), mine.batch);
  batches_per_epoch_ = mine.batches();
  meet(talk_, job_.limits, "staging");
  staging_seconds_ = now_seconds() - begin;
  for (const std::int64_t theirs : comm::all_gather_number(talk_, batches_per_epoch_))
    batches_per_epoch_ = std::min(batches_per_epoch_, theirs);
  if (is_first() && network_.tests) viewer_ = std::make_unique<Viewer>(*network_.tests, *job_.test_data);
}

std::unique_ptr<feeding::Loader> Session::load_from(const checkpoint::Position& position) const {
  datasets::Sampler order = sampler();
  order.most_batches = batches_per_epoch_;
  feeding::LoaderOptions options{job_.readers, job_.ahead};
  if (!staged_.own_samples) options.rank = world_.rank(), options.size = world_.size();
  options.epoch = position.epoch;
  options.step = position.step_in_epoch;
  options.last_epoch = job_.epochs;
  options.training = true;
  options.on_bad = job_.on_bad;
  options.trace = &trace_;
  // No step takes batches of two epochs.
  options.held = static_cast<int>(std::min(job_.ramp->largest(), batches_per_epoch_));
  return std::make_unique<feeding::Loader>(*job_.train_data, order, options);
}

// Micro-batch by micro-batch, each from all batches of the step: in this order the parts of the ranks follow each
// other, so that gradients are added in the same order on any number of ranks; for that there must also be as many at
// the end of an epoch as before.
std::vector<parallel::Feed> Session::feeds_of(const Batches& batches, std::int64_t factor, const optim::Step& step,
                                              double total) const {
  std::vector<parallel::Feed> feeds;
  const auto* const sum = norm_ ? norm_->sum_in(step.index) : nullptr;
  for (std::int64_t micro = 0; micro < batching_.micro_batches; ++micro) {
    for (const feeding::Batch* batch : batches) {
      const std::int64_t first = micro * batching_.rows;
      const std::int64_t rows = std::clamp<std::int64_t>(batch->count - first, 0, batching_.rows);
      const auto samples = std::span(batch->samples)
                               .subspan(static_cast<std::size_t>(rows > 0 ? first : 0), static_cast<std::size_t>(rows));
      feeds.push_back({named_inputs(plan(), *job_.train_data, *batch, first),
                       {.seed = job_.seed,
                        .step = step.index,
                        .epoch = batch->epoch,
                        .samples = samples,
                        .rows = rows,
                        .total = total,
                        .sum = sum}});
    }
    if (job_.deterministic)
      for (std::int64_t missing = std::ssize(batches); missing < factor; ++missing)
        feeds.push_back({{}, {.rows = 0, .total = total}});
  }
  return feeds;
}

Evaluated Session::evaluate(const std::atomic<bool>* stop) const {
  return network_.tests ? train::evaluate(*network_.tests, job_, talk_, stop) : Evaluated();
}

}  // namespace isobar::train
