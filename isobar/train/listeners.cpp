#include "isobar/train/listeners.hpp"

#include <algorithm>

namespace isobar::train {

Listeners::Listeners(std::vector<Sink*> sinks, bool first_rank) : sinks_(std::move(sinks)), first_rank_(first_rank) {
  if (!first_rank) std::erase_if(sinks_, [](const Sink* sink) { return !sink->on_every_rank(); });
  std::ranges::stable_sort(sinks_, {}, &Sink::turn);
}

std::span<Sink* const> Listeners::on_first_rank() const {
  return first_rank_ ? std::span(sinks_) : std::span<Sink* const>();
}

void Listeners::start(const Start& start) const {
  for (Sink* sink : sinks_) sink->start(start);
}

void Listeners::step(const StepDone& done) const {
  for (Sink* sink : on_first_rank()) sink->step(done);
}

void Listeners::bad_step(const BadStep& bad) const {
  for (Sink* sink : on_first_rank()) sink->bad_step(bad);
}

void Listeners::traced(const StepTraced& traced) const {
  for (Sink* sink : sinks_) sink->traced(traced);
}

void Listeners::epoch(const EpochDone& done) const {
  for (Sink* sink : on_first_rank()) sink->epoch(done);
}

void Listeners::checkpoints(const std::vector<CheckpointDone>& saved) const {
  for (const CheckpointDone& done : saved)
    for (Sink* sink : on_first_rank()) sink->checkpoint(done);
}

void Listeners::end(const End& end) const {
  for (Sink* sink : sinks_) sink->end(end);
}

}  // namespace isobar::train
