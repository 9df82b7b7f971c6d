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
    talk_ = duplicate(world_);
    members_.emplace(world_, *talk_, carried);
    const bool under_way = members_->batch() != 0;
    if (under_way) {  // the batch stays what it was at the first start, also where it was counted per rank
      job.batch = members_->batch();
      job.batch_per_rank = 0;
    }
    session_.emplace(std::move(job), world_, *talk_, trace_, under_way);
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
  open();
  advance({}, stop);
  return close();
}

void Trainer::open() {
  guarded([&] {
    vigil_.emplace(world_, session_->job().limits);
    keeper_->open(*members_);
    opened_at_ = now_seconds();
    session_->stage(members_->has_state());
    announce();
  });
}

bool Trainer::advance(const Until& until, const std::atomic<bool>* stop) {
  return guarded([&] { return loop_->advance(until, stop); });
}

End::Reason Trainer::close() {
  return guarded([&] {
    const SkippedSamples skipped = loop_->finish();
    const bool over = position().epoch >= session_->job().epochs;
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

void Trainer::announce() {
  const Job& job = session_->job();
  Start start;
  start.recipe = job.recipe;
  start.folder = job.folder;
  start.parameters = plan().parameter_count();
  start.flops_per_sample = plan().flops() / static_cast<double>(batching().rows);
  start.train_samples = job.train_data->size();
  start.test_samples = job.test_data ? job.test_data->size() : 0;
  start.epochs = job.epochs;
  start.steps_per_epoch = session_->batches_per_epoch();
  start.first_step = position().step;
  start.first_epoch = position().epoch;
  start.changes = members_->changes();
  start.arena_bytes = plan().arena_bytes;
  start.weight_bytes = store().bytes() - (plan().gradients_in_arena ? plan().weight_bytes() : 0);
  start.good_state_bytes = keeper_->good_state_bytes();
  start.snapshot_bytes = checkpoint::snapshot_bytes(store(), session_->strategy().state(), world_.size());
  start.threads = omp_get_max_threads();
  start.ranks = world_.size();
  start.nodes = 1 + *std::ranges::max_element(world_.nodes());
  start.global_batch = batching().batch;
  start.batching = batching().describe();
  start.strategy = session_->strategy().describe();
  start.placement = job.placement;
  start.staging_seconds = session_->staging_seconds();
  start.rank = world_.rank();
  start.node = world_.nodes()[static_cast<std::size_t>(world_.rank())];
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
  if (session_->network().tests) {
    for (const graph::PlanInput& input : session_->network().tests->plan().inputs)
      if (input.name == "y") end.target_shape = sample_shape(input.shape);
  }
  end.predictions = evaluated.predictions;
  end.targets = evaluated.targets;
  end.trace = &trace_.all();
  if (job.on_bad == feeding::OnBad::skip) end.skipped = skipped.count;
  end.first_skipped = skipped.first;
  end.bad = bad_steps_of(position());
  end.staging = session_->staging_counters();
  end.exchange = session_->strategy().cost();
  end.step_seconds = loop_->counts().step_seconds + before.step_seconds;
  end.viewer = session_->viewer();
  end.checkpoints = keeper_->counts();
  listeners_.end(end);
  meet(*talk_, job.limits, "the end of the run");  // no rank leaves before the last file is written
}

}  // namespace isobar::train
