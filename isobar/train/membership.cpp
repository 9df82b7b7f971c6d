#include "isobar/train/membership.hpp"

#include "isobar/base/clock.hpp"

namespace isobar::train {

Membership::Membership(comm::Comm& world, comm::Comm& talk, Carried* carried)
    : world_(world), talk_(talk), carried_(carried), standing_(carried ? compare(talk, *carried) : Standing()) {}

void Membership::note_batch(std::int64_t batch) {
  if (carried_) carried_->batch = batch;
}

const checkpoint::Snapshot& Membership::take_state() {
  world_.note(fmt::format("state of rank {}", world_.members()[static_cast<std::size_t>(standing_.ahead)]));
  share_state(talk_, standing_, *carried_);
  return carried_->state;
}

void Membership::opened(std::int64_t step) {
  if (!carried_) return;
  if (has_state()) {
    MembersChange change = change_of(carried_->members, world_.members());
    change.step = step;
    change.seconds = now_seconds() - carried_->noticed;
    carried_->changes.push_back(std::move(change));
  } else {
    carried_->recent = {};
    carried_->first_step = step;
  }
  carried_->state = {};  // it is in the store now
  carried_->members = world_.members();
}

void Membership::note(const StepDone& done) {
  if (carried_) carried_->recent.add(done);
}

void Membership::note(const EpochDone& done) {
  if (carried_) carried_->recent.add(done);
}

void Membership::finished_step(std::int64_t step) {
  if (carried_ && carried_->finished) carried_->finished(step);
}

void Membership::tell_again(const Start& start, const Listeners& listeners) const {
  if (start.changes.empty()) return;
  for (Sink* sink : listeners.on_first_rank()) carried_->recent.tell(*sink, sink->reached(start));
}

void Membership::leave(const std::function<void(checkpoint::Snapshot& into)>& take, const SessionCounts& counts,
                       bool stopping) {
  if (!carried_) return;
  carried_->noticed = now_seconds();
  if (!take) return;
  take(carried_->state);
  carried_->has_state = true;
  carried_->stopping = stopping;
  carried_->seconds += counts.seconds;
  carried_->step_seconds += counts.step_seconds;
  carried_->skipped += counts.skipped;
}

SessionCounts Membership::before() const {
  return carried_ ? SessionCounts{carried_->seconds, carried_->step_seconds, carried_->skipped} : SessionCounts();
}

}  // namespace isobar::train
