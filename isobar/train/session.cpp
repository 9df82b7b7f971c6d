#include "isobar/train/session.hpp"

#include <algorithm>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/random.hpp"
#include "isobar/base/text.hpp"
#include "isobar/graph/join_statistics.hpp"
#include "isobar/parallel/slowed.hpp"
#include "isobar/train/agreement.hpp"
#include "isobar/train/carried.hpp"
#include "isobar/train/feeds.hpp"
#include "isobar/train/run_tuning.hpp"
#include "isobar/train/same_run.hpp"

namespace isobar::train {

Session::Session(Job job, const RunGroups& groups, StepTrace& trace, bool under_way)
    : job_(std::move(job)),
      groups_(groups),
      trace_(trace),
      batching_(divide_batch(job_, groups.placement.shares)),
      circles_(groups, job_.limits, trace) {
  plan_network(under_way, trace);
}

void Session::plan_network(bool under_way, StepTrace& trace) {
  const double slower = parallel::slowness(job_.recipe, job_.strategy->roles(groups_.all.size()), groups_.all.rank());
  const graph::Graph whole = job_.model.graph(batching_.rows);
  const auto part_of = [&](int number) {
    split::ModelPart part = job_.split->cut(whole, number);
    if (const comm::Comm& team = groups_.trainers(); job_.sync_batch_norm && team.size() > 1)
      part.graph = graph::join_statistics(part.graph, {"team", team.rank(), team.size()});
    return part;
  };
  const split::ModelPart part = part_of(groups_.placement.part);
  part_ = ReplicaPart(part, whole, groups_.replica());
  // What was measured is for whole layers.
  if (part_.alone()) network_.tuning = run_tuning(job_, batching_.rows, under_way, groups_.start());
  graph::PlanOptions options = plan_options(job_, network_.tuning);
  // Gradients of all parts are added up where they lie.
  if (groups_.placement.part > 0) graph::follow(graph::make_plan(part_of(0).graph, options), options);
  graph::Plan plan = graph::make_plan(part.graph, options);
  check_fields(plan);
  train_seen_ = part_.seen(job_.train_data);
  if (strategy().traits().all_samples)
    expect_equal_shares("of which each trains a network on all samples (data.batch_per_rank counts those of one)");
  if (job_.train_data->size() < batching_.batch)
    fail("data.train has {} samples, fewer than one batch of {}", job_.train_data->size(), batching_.batch);
  expect_same(groups_.start(), facts_of(job_));
  expect_same(groups_.alike(), facts_of(plan));
  batches_per_epoch_ = sampler().batches();
  flops_per_sample_ = part_.sum(plan.flops()) / static_cast<double>(batching_.rows);
  auto arena = std::make_shared<Block>(plan.arena_bytes);
  std::span<float> gradients = job_.strategy->open(groups_.all, exec::ParamStore::gradient_floats(plan),
                                                   {.whole = groups_.all.elastic() || job_.numbers.tries_again()});
  if (gradients.empty()) gradients = exec::arena_gradients(plan, *arena);
  network_.store = std::make_unique<exec::ParamStore>(plan, job_.optimizer->slots(), gradients);
  exec::ParamStore& store = *network_.store;
  store.initialize(own_seed());
  // One team evaluates the model.
  if ((job_.test_data || job_.validation.exists()) && groups_.placement.team == 0)
    plan_evaluation(part.graph, whole, plan, arena);
  const exec::TalkSetting talks = circles_.setting(plan);
  network_.trains = std::make_unique<exec::Executor>(std::move(plan), store, &trace.main(), arena, talks);
  network_.replica = std::make_unique<parallel::ComputedReplica>(*network_.trains, store, *job_.optimizer, &trace);
  if (slower > 1) network_.replica = std::make_unique<parallel::SlowedReplica>(std::move(network_.replica), slower);
}

// In the arena of training, or in a larger one for both.
void Session::plan_evaluation(const graph::Graph& graph, const graph::Graph& whole, const graph::Plan& plan,
                              std::shared_ptr<Block>& arena) {
  if (job_.test_data && job_.test_data->size() == 0) fail("data.test has no samples");
  graph::Plan test_plan = graph::make_plan(
      graph, {.phase = ops::Phase::inference, .stored = network_.store->layouts(), .tuning = network_.tuning});
  for (const auto& set : {job_.test_data, job_.validation.data})
    if (set) reset_metrics(part_.prediction(), job_, *set);
  expect_room(plan, test_plan);
  if (!plan.gradients_in_arena && arena->size() < test_plan.arena_bytes)
    arena = std::make_shared<Block>(test_plan.arena_bytes);
  const exec::TalkSetting talks = circles_.setting(test_plan);
  network_.tests = std::make_unique<exec::Executor>(std::move(test_plan), *network_.store, nullptr, arena, talks);
  if (strategy().traits().members_apart) {
    if (groups_.talk().size() > 1) {
      judges_ = duplicate(groups_.talk());
      judged_part_ = ReplicaPart::together(whole, *judges_);
    }
    network_.judged = std::make_unique<Predictor>(std::vector{network_.tests.get()}, judged_part_, job_.model);
  } else {
    network_.judged = std::make_unique<Predictor>(*network_.tests, part_);
  }
}

void Session::expect_equal_shares(std::string_view why) const {
  if (batching_.batch % groups_.placement.shares == 0) return;
  fail_usage("a batch of {} cannot be shared equally by {} ranks {}", batching_.batch, groups_.placement.shares, why);
}

// Samples have what the whole network takes, and what the data sets show of them is what this rank's plan takes.
void Session::check_fields(const graph::Plan& plan) const {
  const auto check = [&](const std::shared_ptr<const datasets::Dataset>& data, const std::string& what) {
    if (!data) return;
    if (!part_.alone()) expect_fields(part_.inputs(), *data, what);
    expect_fields(plan, *part_.seen(data), what);
  };
  check(job_.train_data, "data.train");
  if (groups_.placement.team > 0) return;
  check(job_.test_data, "data.test");
  check(job_.validation.data, "data.validation");
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

// Where models stay apart, each has random numbers of its own; the first has those of a run on one rank.
std::uint64_t Session::own_seed() const {
  const int share = groups_.placement.share;
  return strategy().traits().members_apart && share > 0 ? mix(job_.seed, static_cast<std::uint64_t>(share)) : job_.seed;
}

// A rank that sees samples of its own takes its part of every batch from them, in an order of its own; so does one that
// takes all samples, whatever the others do.
datasets::Sampler Session::sampler() const {
  const std::int64_t samples = job_.train_data->size();
  if (!has_own_order()) return {samples, batching_.batch, job_.seed, job_.shuffle, true};
  const std::uint64_t seed =
      staged_.own_samples ? mix(job_.seed, static_cast<std::uint64_t>(groups_.placement.share)) : own_seed();
  return {samples, batching_.batch / groups_.placement.shares, seed, job_.shuffle, true};
}

void Session::stage(bool takes_over) {
  groups_.trainers().note("staging the data");
  const double begin = now_seconds();
  staged_ = stage_data(job_, job_.folder / "learned.h5", groups_.trainers(), part_, groups_.peers);
  check_fields(plan());
  train_seen_ = part_.seen(job_.train_data);
  if (!staged_.all_readable && groups_.placement.teams > 1)
    fail_usage(
        "data.staging: samples held by other ranks arrive in the order of steps that all take together; with strategy "
        "'{}' each rank goes at its own pace: use 'none' or 'files'",
        job_.strategy->describe());
  if (staged_.own_samples && !part_.alone())
    fail_usage(
        "data.staging: every rank would see samples of its own, but the {} ranks that share a model (parallel.split) "
        "must read the same: use 'none', 'store' or 'files(scheme=all)'",
        part_.ways());
  if (staged_.own_samples && takes_over)
    throw NotInPlace("every rank sees samples of its own (data.staging), which other ranks cannot take over");
  if (!staged_.all_readable && strategy().traits().members_apart)
    fail_usage(
        "data.staging: samples held by other ranks arrive in an order that all ranks share; with strategy '{}' each "
        "network has its own: use 'none' or 'files(scheme=all)'",
        job_.strategy->describe());
  if (staged_.own_samples && strategy().traits().all_samples)
    fail_usage(
        "data.staging: every rank would see samples of its own, but with strategy '{}' each must see all: use 'none' "
        "or 'files(scheme=all)', or let each train on its share (data=share)",
        job_.strategy->describe());
  if (staged_.own_samples) expect_equal_shares("that each see samples of their own (data.staging)");
  const datasets::Sampler mine = sampler();
  if (job_.train_data->size() < mine.batch)
    fail("data.train has {} samples after staging, fewer than one batch of {}", job_.train_data->size(), mine.batch);
  batches_per_epoch_ = mine.batches();
  meet(groups_.start(), job_.limits, "staging");
  staging_seconds_ = now_seconds() - begin;
  for (const std::int64_t theirs : comm::all_gather_number(groups_.start(), batches_per_epoch_))
    batches_per_epoch_ = std::min(batches_per_epoch_, theirs);
  if (network_.judged && job_.test_data && (groups_.placement.share == 0 || strategy().traits().members_apart))
    viewer_ = std::make_unique<Viewer>(*network_.judged, *staged_.whole_test_data);
}

std::unique_ptr<feeding::Loader> Session::load_from(const checkpoint::Position& position) const {
  datasets::Sampler order = sampler();
  order.most_batches = batches_per_epoch_;
  feeding::LoaderOptions options{job_.readers, job_.ahead};
  if (!has_own_order()) options.rank = groups_.placement.share, options.size = groups_.placement.shares;
  options.epoch = position.epoch;
  options.step = position.step_in_epoch;
  options.last_epoch = job_.epochs;
  options.training = true;
  options.on_bad = job_.on_bad;
  options.agree = part_.agreement(job_.limits);
  options.trace = &trace_;
  // No step takes batches of two epochs.
  options.held = static_cast<int>(std::min(job_.ramp->largest(), batches_per_epoch_));
  return std::make_unique<feeding::Loader>(*train_seen_, order, options);
}

// Micro-batch by micro-batch, each from all batches of the step: in this order the parts of the ranks follow each
// other, so that gradients are added in the same order on any number of ranks; for that there must also be as many at
// the end of an epoch as before.
std::vector<parallel::Feed> Session::feeds_of(const Batches& batches, std::int64_t factor, const optim::Step& step,
                                              double samples) const {
  // So the losses of all ranks add up to the mean over the samples.
  const double total = samples / part_.loss_share();
  std::vector<parallel::Feed> feeds;
  for (std::int64_t micro = 0; micro < batching_.micro_batches; ++micro) {
    for (const feeding::Batch* batch : batches) {
      const std::int64_t first = micro * batching_.rows;
      const std::int64_t rows = std::clamp<std::int64_t>(batch->count - first, 0, batching_.rows);
      const auto numbers = std::span(batch->samples)
                               .subspan(static_cast<std::size_t>(rows > 0 ? first : 0), static_cast<std::size_t>(rows));
      feeds.push_back({named_inputs(plan(), *train_seen_, *batch, first),
                       {.seed = own_seed(),
                        .step = step.index,
                        .epoch = batch->epoch,
                        .samples = numbers,
                        .rows = rows,
                        .total = total}});
    }
    if (job_.deterministic)
      for (std::int64_t missing = std::ssize(batches); missing < factor; ++missing)
        feeds.push_back({{}, {.rows = 0, .total = total}});
  }
  return feeds;
}

Evaluated Session::evaluate(const std::atomic<bool>* stop) const {
  if (!network_.judged || !job_.test_data) return {};
  return train::evaluate(*network_.judged, job_, {job_.test_data}, groups_.talk(), stop);
}

Evaluated Session::validate(const std::atomic<bool>* stop) const {
  if (!network_.judged || !job_.validation.exists()) return {};
  return train::evaluate(*network_.judged, job_, {job_.validation.data, "data.validation"}, groups_.talk(), stop);
}

void Session::viewed(const std::function<void(Viewer*)>& work) const {
  work(is_first() ? viewer_.get() : nullptr);
  if (!viewer_ || network_.judged->part().alone()) return;
  is_first() ? viewer_->release() : viewer_->attend();
}

}  // namespace isobar::train
