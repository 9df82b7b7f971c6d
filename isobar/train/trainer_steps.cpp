// The steps of an epoch: batches are fetched, ranks agree on what they hold and whether to stop, the strategy trains.
#include <algorithm>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/train/agreement.hpp"
#include "isobar/train/trainer.hpp"

namespace isobar::train {

// Counted in batches, so that it follows the samples also where a step takes several of them.
optim::Progress Trainer::progress(std::int64_t factor) const {
  return {position_.epoch * batches_per_epoch_ + position_.step_in_epoch, batches_per_epoch_,
          batches_per_epoch_ * job_.epochs, batching_.batch * factor};
}

// False when stopped before the end of the epoch.
bool Trainer::train_epoch(data::Loader& loader, const std::atomic<bool>* stop) {
  while (true) {
    const double begin = now_seconds();
    const double waited = loader.wait_seconds();
    world_.note(fmt::format("waiting for the input of step {}", position_.step + 1));
    const std::int64_t factor = job_.ramp->factor(progress(1));
    trace_.begin_step(position_.step + 1, begin, is_traced(factor));
    const Batches batches = next_batches(loader, factor);
    if (batches.empty()) return trace_.drop_step(), true;
    const double wait = loader.wait_seconds() - waited;
    if (wait > 0) trace_.main().record({Category::input_output, wait_name_, position_.step + 1, begin, wait, 0, 0});
    world_.note(fmt::format("step {}", position_.step + 1));
    const Agreed agreed = agree(batches, stopping_ || (stop && *stop));
    stopping_ = agreed.stop;
    if (agreed.stop) return trace_.drop_step(), false;
    train_step(batches, factor, agreed, begin, wait);
    finish_step();
    if (agreed.save) save({});
  }
}

// The second step of a session, when everything is warm, and as many as were asked for spread over the batches of the
// whole run: which those are does not depend on where it was resumed.
bool Trainer::is_traced(std::int64_t factor) const {
  const std::int64_t wanted = job_.report.trace_steps, all = batches_per_epoch_ * job_.epochs;
  if (wanted == 0) return false;
  if (session_steps_ == 1) return true;
  const std::int64_t before = position_.epoch * batches_per_epoch_ + position_.step_in_epoch;
  const std::int64_t after = before + std::min(factor, batches_per_epoch_ - position_.step_in_epoch);
  const auto due = [&](std::int64_t batches) {
    return static_cast<std::int64_t>(static_cast<double>(batches) * static_cast<double>(wanted) /
                                     static_cast<double>(all));
  };
  return due(after) > due(before);
}

// Fewer than the factor at the end of an epoch, none when it is over.
Trainer::Batches Trainer::next_batches(data::Loader& loader, std::int64_t factor) const {
  Batches batches;
  if (const data::Batch* batch = loader.next()) batches.push_back(batch);
  while (!batches.empty() && std::ssize(batches) < factor && loader.step() < loader.batches())
    batches.push_back(loader.next(/*keep=*/true));
  return batches;
}

Trainer::Agreed Trainer::agree(const Batches& batches, bool stop) {
  const double begin = now_seconds();
  std::int64_t numbers[] = {stop, 0, 0, save_follows(std::ssize(batches))};
  for (const data::Batch* batch : batches) numbers[1] += batch->count, numbers[2] += batch->skipped;
  sum_over_ranks(*talk_, numbers, until_stalled(*talk_, job_.limits, fmt::format("step {}", position_.step + 1)));
  if (world_.size() > 1)
    trace_.main().record({Category::communication, agree_name_, position_.step + 1, begin, now_seconds() - begin, 0,
                          static_cast<double>(sizeof numbers)});
  return {numbers[0] > 0, numbers[3] > 0, numbers[1], numbers[2]};
}

// Micro-batch by micro-batch, each from all batches of the step: in this order the parts of the ranks follow each
// other, so that gradients are added in the same order on any number of ranks; for that there must also be as many at
// the end of an epoch as before.
std::vector<parallel::Feed> Trainer::feeds_of(const Batches& batches, std::int64_t factor, const optim::Step& step,
                                              double total) const {
  std::vector<parallel::Feed> feeds;
  for (std::int64_t micro = 0; micro < batching_.micro_batches; ++micro) {
    for (const data::Batch* batch : batches) {
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
                        .sum = sum_within_pass_ ? &sum_within_pass_ : nullptr}});
    }
    if (job_.deterministic)
      for (std::int64_t missing = std::ssize(batches); missing < factor; ++missing)
        feeds.push_back({{}, {.rows = 0, .total = total}});
  }
  return feeds;
}

void Trainer::train_step(const Batches& batches, std::int64_t factor, const Agreed& agreed, double begin,
                         double wait_seconds) {
  const optim::Progress before = progress(factor);
  position_.skipped += agreed.skipped;
  passed_over_ += agreed.skipped;
  ++position_.step;
  position_.step_in_epoch += static_cast<std::int64_t>(batches.size());
  // Nothing but bad samples: a step without an update, so that positions stay what they are.
  if (agreed.samples == 0) return trace_.drop_step();
  optim::Step step{position_.step, position_.rate_scale * job_.rate->rate(job_.optimizer->base_rate(), before)};
  step.clip_norm = job_.clip_norm;
  step.undone = position_.undone;
  const comm::ExchangeCost cost = job_.strategy->cost();
  const std::vector<parallel::Feed> feeds = feeds_of(batches, factor, step, static_cast<double>(agreed.samples));
  const std::int64_t epoch = batches[0]->epoch + 1;
  double loss = 0;
  try {
    loss = job_.strategy->step(*replica_, feeds, step);
  } catch (const parallel::NotFinite& found) {
    trace_.drop_step();
    return meet_bad_numbers(found, feeds, step, epoch);
  }
  position_.bad_in_a_row = 0;
  position_.loss_sum += loss * static_cast<double>(agreed.samples);
  position_.loss_samples += agreed.samples;
  const double end = now_seconds();
  StepDone done{position_.step, epoch,       position_.step_in_epoch, agreed.samples, loss, step.learning_rate,
                end - begin,    wait_seconds};
  const comm::ExchangeCost after = job_.strategy->cost();
  done.exchange_seconds = after.waited_seconds - cost.waited_seconds;
  done.bytes_sent = after.traffic.bytes - cost.traffic.bytes;
  done.bad = bad_steps();
  tell(done, begin, end);
  renew_good_state();
}

// Of every step rank 0; of a traced one all ranks.
void Trainer::tell(const StepDone& done, double begin, double end) {
  const std::span<const Event> events = trace_.end_step(end);
  step_seconds_ += done.seconds;
  ++session_steps_;
  if (carried_) carried_->recent.add(done);
  if (first())
    for (Sink* sink : sinks_) sink->step(done);
  if (events.empty()) return;
  const StepTraced traced{done.step, begin, done.seconds, events, &trace_.main()};
  for (Sink* sink : sinks_) sink->traced(traced);
}

}  // namespace isobar::train
