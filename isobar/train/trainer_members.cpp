// Ranks that die and ranks that take their place, as the trainer sees it: what the members of a new group bring, which
// state the run goes on from, and what this rank leaves behind for the next trainer when members change again.
#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/train/run_folder.hpp"
#include "isobar/train/run_tuning.hpp"
#include "isobar/train/trainer.hpp"

namespace isobar::train {

// The batch stays what it was at the first start, also where it was counted per rank.
void Trainer::meet_members() {
  if (!carried_) return;
  standing_ = compare(*talk_, *carried_);
  stopping_ = standing_.stopping;
  if (standing_.batch == 0) return;
  job_.batch = standing_.batch;
  job_.batch_per_rank = 0;
}

// From a state that some rank has in memory; otherwise from the folder, as after a new launch.
void Trainer::open() {
  if (standing_.ahead < 0) {
    if (carried_) carried_->recent = {};
    Opened opened = open_run(job_, batching_, *store_, kept(), *talk_);
    position_ = opened.position;
    metrics_ = std::move(opened.metrics);
    best_ = opened.best;
    if (first() && tuning_) keep_tuning(job_.folder, *tuning_);
    if (carried_) carried_->first_step = position_.step;
  } else {
    world_.note(fmt::format("state of rank {}", world_.members()[static_cast<std::size_t>(standing_.ahead)]));
    share_state(*talk_, standing_, *carried_);
    if (first() && !take_over_folder(job_, batching_))
      throw NotInPlace(fmt::format("rank {} does not see the run folder '{}' and cannot take over its files",
                                   world_.members()[0], job_.folder.string()));
    restore(carried_->state, *store_, kept());
    position_ = carried_->state.position;
    position_.rows = batching_.rows;
    metrics_ = carried_->state.metrics;
    best_ = carried_->state.best;
    note_change();
  }
  if (first())
    saving_ =
        std::make_unique<Saving>(job_.saving, job_.folder, position_.step, now_seconds(), best_, job_.write_checkpoint);
  finished_ = position_;
  opened_at_ = now_seconds();
  opened_ = true;
  if (!carried_) return;
  carried_->state = {};  // it is in the store now
  carried_->members = world_.members();
}

void Trainer::note_change() {
  MembersChange change = change_of(carried_->members, world_.members());
  change.step = position_.step;
  change.seconds = now_seconds() - carried_->noticed;
  carried_->changes.push_back(std::move(change));
}

// A rank 0 that died may have taken lines with it that every rank knows.
void Trainer::tell_again(const Start& start) {
  if (!first() || start.changes.empty()) return;
  for (Sink* sink : sinks_) carried_->recent.tell(*sink, sink->reached(start));
}

void Trainer::finish_step() {
  finished_ = position_;
  if (carried_ && carried_->finished) carried_->finished(position_.step);
}

// Nothing is sent: every rank keeps what it has, and the next group finds out who is ahead.
void Trainer::carry() {
  if (!carried_) return;
  carried_->noticed = now_seconds();
  if (!opened_) return;
  if (!job_.strategy->recovers())
    throw NotInPlace(fmt::format("strategy '{}' has gradients of earlier steps under way, which died with a rank",
                                 job_.strategy->describe()));
  if (position_.step != finished_.step) job_.strategy->undo(*replica_);
  take_snapshot(carried_->state, *store_, finished_, kept());
  carried_->state.metrics = metrics_;
  carried_->state.best = best_;
  carried_->has_state = true;
  carried_->stopping = stopping_;
  carried_->seconds += now_seconds() - opened_at_;
  carried_->step_seconds += step_seconds_;
  carried_->skipped += passed_over_;
}

}  // namespace isobar::train
