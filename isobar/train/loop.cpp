#include "isobar/train/loop.hpp"

#include <algorithm>
#include <sstream>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/train/agreement.hpp"

namespace isobar::train {
namespace {

constexpr std::size_t most_shown = 8, longest_line = 400, longest_text = (most_shown + 1) * (longest_line + 1);

// What a loader has left out, as ranks tell each other: the number, then the first reasons, each in a line.
std::string text_of(const feeding::Loader& loader) {
  std::string text = std::to_string(loader.skipped()) + "\n";
  std::size_t shown = 0;
  for (const std::string& reason : loader.first_skipped())
    if (shown++ < most_shown) text += one_line(reason, longest_line) + "\n";
  return text;
}

void add_skipped(SkippedSamples& all, const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  all.count += std::stoll(line);
  while (all.first.size() < most_shown && std::getline(lines, line)) all.first.push_back(line);
}

}  // namespace

Loop::Loop(const Parts& parts)
    : parts_(parts),
      bad_steps_(parts.session, parts.keeper, parts.listeners),
      wait_name_(parts.trace.main().intern("waiting for input")),
      agree_name_(parts.trace.main().intern("waiting for ranks before the step")),
      stopping_(parts.members.was_stopping()) {}

bool Loop::advance(const Until& until, const std::atomic<bool>* stop) {
  const checkpoint::Position& position = parts_.keeper.position();
  const std::int64_t last_epoch = std::min(parts_.session.job().epochs, until.epoch);
  try {
    while (position.epoch < last_epoch && position.step < until.step && !parts_.keeper.ends_early()) {
      if (!loader_) loader_ = parts_.session.load_from(position);
      const double begin = now_seconds();
      const After after = take_step(stop);
      epoch_seconds_ += now_seconds() - begin;
      if (after == After::stop) return false;
      if (after == After::epoch && !finish_epoch(stop)) return false;
    }
    return true;
  } catch (...) {
    drop();
    throw;
  }
}

Loop::After Loop::take_step(const std::atomic<bool>* stop) {
  const checkpoint::Position& position = parts_.keeper.position();
  StepTrace& trace = parts_.trace;
  const double begin = now_seconds();
  const double waited = loader_->wait_seconds();
  parts_.session.trainers().note(fmt::format("waiting for the input of step {}", position.step + 1));
  const std::int64_t factor = parts_.session.job().ramp->factor(progress(1));
  trace.begin_step(position.step + 1, begin, is_traced(factor));
  const Session::Batches batches = next_batches(factor);
  if (batches.empty()) return trace.drop_step(), After::epoch;
  const double wait = loader_->wait_seconds() - waited;
  if (wait > 0) trace.main().record({Category::input_output, wait_name_, position.step + 1, begin, wait, 0, 0});
  parts_.session.trainers().note(fmt::format("step {}", position.step + 1));
  const Agreed agreed = agree(batches, stopping_ || (stop && *stop));
  stopping_ = agreed.stop;
  if (agreed.stop) return trace.drop_step(), After::stop;
  train_on(batches, factor, agreed, begin, wait);
  parts_.keeper.finish();
  parts_.members.finished_step(position.step);
  if (agreed.save) parts_.keeper.save();
  return After::step;
}

// Counted in batches, so that it follows the samples also where a step takes several of them.
optim::Progress Loop::progress(std::int64_t factor) const {
  const checkpoint::Position& position = parts_.keeper.position();
  const std::int64_t batches = parts_.session.batches_per_epoch();
  return {position.epoch * batches + position.step_in_epoch, batches, batches * parts_.session.job().epochs,
          parts_.session.batching().batch * factor, parts_.keeper.judgements().losses()};
}

// The second step of a session, when everything is warm, and as many as the recipe wants spread over the batches of the
// whole run: which those are does not depend on where it was resumed.
bool Loop::is_traced(std::int64_t factor) const {
  const checkpoint::Position& position = parts_.keeper.position();
  const std::int64_t wanted = parts_.session.job().report.trace_steps, each = parts_.session.batches_per_epoch();
  if (wanted == 0) return false;
  if (steps_ == 1) return true;
  const std::int64_t before = position.epoch * each + position.step_in_epoch;
  const std::int64_t after = before + std::min(factor, each - position.step_in_epoch);
  const auto due = [&](std::int64_t batches) {
    return static_cast<std::int64_t>(static_cast<double>(batches) * static_cast<double>(wanted) /
                                     static_cast<double>(each * parts_.session.job().epochs));
  };
  return due(after) > due(before);
}

// Fewer than the factor at the end of an epoch, none when it is over.
Session::Batches Loop::next_batches(std::int64_t factor) {
  Session::Batches batches;
  if (const feeding::Batch* batch = loader_->next()) batches.push_back(batch);
  while (!batches.empty() && std::ssize(batches) < factor && loader_->step() < loader_->batches())
    batches.push_back(loader_->next(/*keep=*/true));
  return batches;
}

Loop::Agreed Loop::agree(const Session::Batches& batches, bool stop) {
  const double begin = now_seconds();
  const std::int64_t step = parts_.keeper.position().step + 1;
  comm::Comm& talk = parts_.session.talk();
  std::int64_t numbers[] = {stop, 0, 0, parts_.keeper.save_follows(std::ssize(batches))};
  if (parts_.session.part().is_first())  // ranks that share a model have the same samples
    for (const feeding::Batch* batch : batches) numbers[1] += batch->count, numbers[2] += batch->skipped;
  sum_over_ranks(talk, numbers, until_stalled(talk, parts_.session.job().limits, fmt::format("step {}", step)));
  if (talk.size() > 1)
    parts_.trace.main().record({Category::communication, agree_name_, step, begin, now_seconds() - begin, 0,
                                static_cast<double>(sizeof numbers)});
  return {parts_.session.strategy().stops(numbers[0] > 0), numbers[3] > 0, numbers[1], numbers[2]};
}

void Loop::train_on(const Session::Batches& batches, std::int64_t factor, const Agreed& agreed, double begin,
                    double wait_seconds) {
  Session& session = parts_.session;
  const Job& job = session.job();
  checkpoint::Position& position = parts_.keeper.position();
  const optim::Progress before = progress(factor);
  position.skipped += agreed.skipped;
  counts_.skipped += agreed.skipped;
  ++position.step;
  position.step_in_epoch += static_cast<std::int64_t>(batches.size());
  // Nothing but bad samples: a step without an update, so that positions stay what they are.
  if (agreed.samples == 0) return parts_.trace.drop_step();
  optim::Step step{position.step, position.rate_scale * job.rate->rate(job.optimizer->base_rate(), before)};
  step.clip_norm = job.clip_norm;
  step.undone = position.undone;
  const comm::ExchangeCosts costs = session.exchange_costs();
  const auto samples = static_cast<double>(agreed.samples);
  const std::vector<parallel::Feed> feeds = session.feeds_of(batches, factor, step, samples);
  const std::int64_t epoch = batches[0]->epoch + 1;
  double loss = 0;
  try {
    loss = session.strategy().step(*session.network().replica, feeds, step);
  } catch (const parallel::NotFinite& found) {
    parts_.trace.drop_step();
    return bad_steps_.meet(found, feeds, step, epoch);
  }
  position.bad_in_a_row = 0;
  position.loss_sum += loss * samples;
  position.loss_samples += agreed.samples;
  const double end = now_seconds();
  StepDone done{position.step, epoch,       position.step_in_epoch, agreed.samples, loss, step.learning_rate,
                end - begin,   wait_seconds};
  done.costs = session.exchange_costs() - costs;
  done.exchange_seconds = done.costs.waited_seconds();
  done.bytes_sent = done.costs.bytes();
  done.bad = bad_steps_of(position);
  tell(done, begin, end);
  parts_.keeper.renew_good_state();
}

// Of every step rank 0; of a traced one all ranks.
void Loop::tell(const StepDone& done, double begin, double end) {
  const std::span<const Event> events = parts_.trace.end_step(end);
  counts_.step_seconds += done.seconds;
  ++steps_;
  parts_.members.note(done);
  parts_.listeners.step(done);
  if (!events.empty()) parts_.listeners.traced({done.step, begin, done.seconds, events, &parts_.trace.main()});
}

// The validation or test set, if it is due after this epoch; otherwise there are no results.
Evaluated Loop::evaluate_on(bool validation, std::int64_t epoch, bool last, const std::atomic<bool>* stop) {
  Session& session = parts_.session;
  const Job& job = session.job();
  const bool validates = job.validation.exists();
  const std::int64_t every = validates && !validation ? job.test_every : job.evaluate_every;
  const bool has = validation ? validates : job.test_data != nullptr;
  if (!has || !session.network().tests || !(last || (every > 0 && epoch % every == 0))) return {};
  session.trainers().note(fmt::format("{} after epoch {}", validation ? "validation" : "evaluation", epoch));
  session.strategy().settle(*session.network().replica, parallel::Settle::judged);
  return validation ? session.validate(stop) : session.evaluate(stop);
}

// False when stopped during the evaluation: it is then done again after a resume.
bool Loop::finish_epoch(const std::atomic<bool>* stop) {
  Session& session = parts_.session;
  const Job& job = session.job();
  checkpoint::Position& position = parts_.keeper.position();
  EpochDone done{position.epoch + 1, position.step,
                 position.loss_sum / static_cast<double>(std::max<std::int64_t>(1, position.loss_samples))};
  if (position.loss_samples == 0 && position.skipped > 0)
    fail("epoch {}: all {} samples are bad", done.epoch, position.skipped);
  done.train_seconds = std::exchange(epoch_seconds_, 0);
  const double begin = now_seconds();
  bool last = done.epoch == job.epochs;
  if (last) bad_steps_.finish_updates();
  const Evaluated validated = evaluate_on(true, done.epoch, last, stop);
  if (!validated.complete) return false;
  // Updates that are still under way when a run ends early belong to the model that is tested.
  if (!last && parts_.keeper.would_end_early(validated.results)) {
    last = true;
    bad_steps_.finish_updates();
  }
  evaluated_ = evaluate_on(false, done.epoch, last, stop);
  if (!evaluated_.complete) return false;
  done.validation = validated.results;
  done.test = evaluated_.results;
  if (job.on_bad == feeding::OnBad::skip) {
    done.skipped = position.skipped;
    if (!evaluated_.results.empty()) done.test_skipped = evaluated_.skipped;
    if (!validated.results.empty()) done.validation_skipped = validated.skipped;
  }
  done.test_seconds = now_seconds() - begin;
  done.bad = bad_steps_of(position);
  position.finish_epoch();
  parts_.keeper.finish(done);
  parts_.members.note(done);
  session.viewed([&](Viewer* viewer) {
    done.viewer = viewer;
    parts_.listeners.epoch(done);
  });
  parts_.keeper.save_behind(done);
  return true;
}

// Every rank tells the first, whatever its team. One that has died, and is missed by nobody, tells nothing.
SkippedSamples Loop::finish() {
  constexpr int tag = 0;
  const std::unique_ptr<feeding::Loader> loader = std::move(loader_);
  if (!loader) return {};
  comm::Comm& all = parts_.session.start();
  // Ranks that share a model have left out the same.
  const std::string mine = parts_.session.part().is_first() ? text_of(*loader) : "0\n";
  SkippedSamples skipped;
  add_skipped(skipped, mine);
  if (all.rank() > 0) {
    all.send(0, tag, std::as_bytes(std::span(mine)));
    return skipped;
  }
  skipped.count += parts_.members.before().skipped;
  std::string theirs;
  for (int rank = 1; rank < all.size(); ++rank) {
    theirs.resize(longest_text);
    comm::Ticket told = all.start_receive_at_most(rank, tag, std::as_writable_bytes(std::span(theirs)));
    try {
      told.wait();
    } catch (const comm::PeerDied&) {
      continue;
    }
    theirs.resize(told.bytes());
    add_skipped(skipped, theirs);
  }
  return skipped;
}

}  // namespace isobar::train
