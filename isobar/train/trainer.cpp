#include "isobar/train/trainer.hpp"

#include <algorithm>
#include <omp.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/comm/local_comm.hpp"
#include "isobar/train/agreement.hpp"
#include "isobar/train/feeds.hpp"

namespace isobar::train {

Trainer::Trainer(Job job, comm::Comm& world, std::vector<Sink*> sinks, Carried* carried)
    : Trainer(std::move(job), nullptr, &world, std::move(sinks), carried) {}

Trainer::Trainer(Job job, std::vector<Sink*> sinks)
    : Trainer(std::move(job), comm::alone(), nullptr, std::move(sinks), nullptr) {}

Trainer::Trainer(Job job, std::unique_ptr<comm::Comm> alone, comm::Comm* world, std::vector<Sink*> sinks,
                 Carried* carried)
    : alone_(std::move(alone)), world_(world ? *world : *alone_), listeners_(std::move(sinks), world_.rank() == 0) {
  comm::guarded(world_, [&] {
    expect_replicas(world_, job);
    groups_.emplace(world_, *job.split, *job.strategy);
    if (groups_->serves()) {
      job.strategy->open(world_, 0, {});
      serving_ = std::move(job);
      return;
    }
    expect_pace(*groups_, job);
    members_.emplace(groups_->trainers(), groups_->start(), carried);
    const bool under_way = members_->batch() != 0;
    if (under_way) {  // the batch stays what it was at the first start, also where it was counted per rank
      job.batch = members_->batch();
      job.batch_per_rank = 0;
    }
    session_.emplace(std::move(job), *groups_, trace_, under_way);
    members_->note_batch(batching().batch);
    keeper_.emplace(*session_, listeners_);
    loop_.emplace(Loop::Parts{*session_, *keeper_, *members_, listeners_, trace_});
  });
}

template <class F>
auto Trainer::guarded(F part) {
  return comm::guarded(world_, [&] {
    try {
      try {
        return part();
      } catch (...) {
        vigil_.reset();
        throw;
      }
    } catch (const comm::MembersChanged&) {
      if (!trains()) throw;
      keeper_->release();  // who goes on must not wait for a disk
      SessionCounts counts = loop_->counts();
      if (opened_at_) counts.seconds = now_seconds() - *opened_at_;
      const auto take = [&](checkpoint::Snapshot& into) { keeper_->take(into); };
      members_->leave(opened_at_ ? std::function<void(checkpoint::Snapshot&)>(take) : nullptr, counts,
                      loop_->stopping());
      throw;
    }
  });
}

End::Reason Trainer::run(const std::atomic<bool>* stop) {
  if (!trains()) return serve(stop);
  open();
  advance({}, stop);
  return close();
}

End::Reason Trainer::serve(const std::atomic<bool>* stop) {
  return guarded([&] {
    const Job& job = *serving_;
    vigil_.emplace(world_, job.limits);
    const auto begun = [&](std::int64_t updates) { listeners_.start(start_of(job, updates)); };
    const auto traced = [&](std::int64_t update, double begin, double seconds, std::span<const Event> events) {
      listeners_.traced({update, begin, seconds, events, &trace_.main()});
    };
    job.strategy->serve({*job.optimizer, stop, &trace_, begun, traced});
    vigil_.reset();
    listeners_.end({});
    return stop && *stop ? End::Reason::interrupted : End::Reason::finished;
  });
}

void Trainer::open() {
  guarded([&] {
    vigil_.emplace(world_, session_->job().limits);
    keeper_->open(*members_);
    opened_at_ = now_seconds();
    session_->stage(members_->has_state());
    session_->strategy().begin(*session_->network().replica, position().step - position().undone);
    announce();
    // The run needs its first rank, which writes the files.
    const comm::Fate fate = groups_->placement.circles.front().fate;
    if (fate == comm::Fate::peer && world_.rank() > 0) world_.view()->set_fate(fate);
  });
}

bool Trainer::advance(const Until& until, const std::atomic<bool>* stop) {
  return guarded([&] { return loop_->advance(until, stop); });
}

End::Reason Trainer::close() {
  return guarded([&] {
    session_->strategy().end(*session_->network().replica);
    const SkippedSamples skipped = loop_->finish();
    if (groups_->placement.teams > 1) vigil_.reset();  // no team waits for another any more
    const bool over = position().epoch >= session_->job().epochs || keeper_->ends_early();
    if (over && loop_->evaluated().results.empty())  // resumed after the last epoch
      loop_->evaluated() = session_->evaluate(nullptr);
    const std::string problem = keeper_->save_last();
    const End::Reason reason = over ? End::Reason::finished : End::Reason::interrupted;
    tell_end(reason, skipped);
    vigil_.reset();
    if (!problem.empty()) fail("the last checkpoint could not be written: {}", problem);
    return reason;
  });
}

// What is known on every rank, also on one that serves.
Start Trainer::start_of(const Job& job, std::int64_t first_step) const {
  Start start;
  start.recipe = job.recipe;
  start.folder = job.folder;
  start.epochs = job.epochs;
  start.first_step = first_step;
  start.threads = omp_get_max_threads();
  start.ranks = world_.size();
  start.nodes = 1 + *std::ranges::max_element(world_.nodes());
  start.teams = groups_->placement.teams;
  start.strategy = job.strategy->describe();
  start.placement = job.placement;
  start.rank = world_.rank();
  start.node = world_.nodes()[world_.rank()];
  start.serves = groups_->serves();
  return start;
}

void Trainer::announce() {
  const Job& job = session_->job();
  Start start = start_of(job, position().step);
  start.parameters = plan().parameter_count();
  start.flops_per_sample = session_->flops_per_sample();
  start.ways = batching().ways;
  if (!session_->part().alone()) start.part = session_->part().text(), start.inputs = session_->part().inputs();
  start.train_samples = job.train_data->size();
  start.test_samples = job.test_data ? job.test_data->size() : 0;
  start.validation_samples = job.validation.exists() ? job.validation.data->size() : 0;
  start.steps_per_epoch = session_->batches_per_epoch();
  start.first_epoch = position().epoch;
  start.changes = members_->changes();
  start.arena_bytes = plan().arena_bytes;
  start.weight_bytes = store().bytes() - (plan().gradients_in_arena ? plan().weight_bytes() : 0);
  start.good_state_bytes = keeper_->good_state_bytes();
  start.snapshot_bytes = checkpoint::snapshot_bytes(store(), session_->kept(), world_.size());
  start.global_batch = batching().batch;
  start.batching = batching().describe();
  start.staging_seconds = session_->staging_seconds();
  start.plan = &plan();
  const auto& tuning = session_->network().tuning;
  start.tuned = tuning ? static_cast<std::int64_t>(tuning->all().size()) : 0;
  start.store = &store();
  listeners_.start(start);
  members_->tell_again(start, listeners_);
}

void Trainer::tell_end(End::Reason reason, const SkippedSamples& skipped) {
  trace_.drop_step();
  const Job& job = session_->job();
  const Evaluated& evaluated = last_evaluation();
  const SessionCounts before = members_->before();
  End end;
  end.reason = reason;
  end.steps = position().step;
  end.seconds = now_seconds() - *opened_at_ + before.seconds;
  end.test = evaluated.results;
  end.target_names = job.model.target_names;
  if (session_->network().tests)
    if (const Shape* target = shape_of(session_->part().inputs(), "y")) end.target_shape = *target;
  end.predictions = evaluated.predictions;
  end.targets = evaluated.targets;
  end.trace = &trace_.all();
  if (job.on_bad == feeding::OnBad::skip) end.skipped = skipped.count;
  end.first_skipped = skipped.first;
  end.bad = bad_steps_of(position());
  end.staging = session_->staging_counters();
  end.exchange = session_->exchange_costs();
  end.exchanged = session_->strategy().summary();
  end.step_seconds = loop_->counts().step_seconds + before.step_seconds;
  end.checkpoints = keeper_->counts();
  session_->viewed([&](Viewer* viewer) {
    end.viewer = viewer;
    listeners_.end(end);
  });
  meet(groups_->talk(), job.limits, "the end of the run");  // no rank leaves before the last file is written
}

}  // namespace isobar::train
