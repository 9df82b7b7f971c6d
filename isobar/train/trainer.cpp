#include "isobar/train/trainer.hpp"

#include <algorithm>
#include <sstream>

#include "isobar/base/clock.hpp"
#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/comm/local_comm.hpp"
#include "isobar/train/agreement.hpp"
#include "isobar/train/run_folder.hpp"

namespace isobar::train {

Trainer::Trainer(Job job, comm::Comm& world, std::vector<Sink*> sinks, Carried* carried)
    : Trainer(std::move(job), nullptr, &world, std::move(sinks), carried) {}

Trainer::Trainer(Job job, std::vector<Sink*> sinks)
    : Trainer(std::move(job), comm::alone(), nullptr, std::move(sinks), nullptr) {}

Trainer::Trainer(Job job, std::unique_ptr<comm::Comm> alone, comm::Comm* world, std::vector<Sink*> sinks,
                 Carried* carried)
    : job_(std::move(job)),
      alone_(std::move(alone)),
      world_(world ? *world : *alone_),
      sinks_(std::move(sinks)),
      wait_name_(trace_.main().intern("waiting for input")),
      agree_name_(trace_.main().intern("waiting for ranks before the step")),
      norm_name_(trace_.main().intern("statistics of a batch")),
      good_states_(job_.numbers.rewind_every),
      carried_(carried) {
  if (!first()) std::erase_if(sinks_, [](const Sink* sink) { return !sink->on_every_rank(); });
  comm::guarded(world_, [&] { plan_run(); });
}

End::Reason Trainer::run(const std::atomic<bool>* stop) {
  return comm::guarded(world_, [&] {
    try {
      return run_guarded(stop);
    } catch (const comm::MembersChanged&) {
      if (saving_) saving_->release();  // who goes on must not wait for a disk
      carry();
      throw;
    }
  });
}

End::Reason Trainer::run_guarded(const std::atomic<bool>* stop) {
  const Vigil vigil(world_, job_.limits);
  open();
  begin_good_states();
  stage();
  announce();
  const bool interrupted = position_.epoch < job_.epochs && !train_epochs(stop);
  if (!interrupted && test_executor_ && evaluated_.results.empty())  // resumed after the last epoch
    evaluated_ = evaluate(*test_executor_, job_, *talk_, nullptr);
  const std::string problem = save_last();
  const End::Reason reason = interrupted ? End::Reason::interrupted : End::Reason::finished;
  finish(reason, now_seconds() - opened_at_);
  if (!problem.empty()) fail("the last checkpoint could not be written: {}", problem);
  return reason;
}

// False when stopped before the end.
bool Trainer::train_epochs(const std::atomic<bool>* stop) {
  data::Sampler order = sampler();
  order.most_batches = batches_per_epoch_;
  data::Loader loader(*job_.train_data, order, loader_options());
  bool interrupted = false;
  while (position_.epoch < job_.epochs && !interrupted) {
    const double epoch_begin = now_seconds();
    interrupted = !train_epoch(loader, stop) || !finish_epoch(now_seconds() - epoch_begin, stop);
  }
  note_skipped(loader);
  return !interrupted;
}

// False when stopped during the evaluation: it is then done again after a resume.
bool Trainer::finish_epoch(double train_seconds, const std::atomic<bool>* stop) {
  EpochDone done{position_.epoch + 1, position_.step,
                 position_.loss_sum / static_cast<double>(std::max<std::int64_t>(1, position_.loss_samples))};
  if (position_.loss_samples == 0 && position_.skipped > 0)
    fail("epoch {}: all {} samples are bad", done.epoch, position_.skipped);
  done.train_seconds = train_seconds;
  const double begin = now_seconds();
  const bool last = done.epoch == job_.epochs;
  if (last) finish_updates();
  evaluated_ = {};
  if (test_executor_ && (last || (job_.evaluate_every > 0 && done.epoch % job_.evaluate_every == 0))) {
    world_.note(fmt::format("evaluation after epoch {}", done.epoch));
    job_.strategy->settle(*replica_);
    evaluated_ = evaluate(*test_executor_, job_, *talk_, stop);
  }
  if (!evaluated_.complete) return false;
  done.test = evaluated_.results;
  if (job_.on_bad == data::OnBad::skip) {
    done.skipped = position_.skipped;
    if (!evaluated_.results.empty()) done.test_skipped = evaluated_.skipped;
  }
  done.test_seconds = now_seconds() - begin;
  done.bad = bad_steps();
  position_.finish_epoch();
  finished_ = position_;
  note_metrics(done);
  if (carried_) carried_->recent.add(done);
  done.viewer = viewer_.get();
  if (first())
    for (Sink* sink : sinks_) sink->epoch(done);
  save_behind_epoch(done);
  return true;
}

void Trainer::note_skipped(const data::Loader& loader) {
  constexpr std::size_t most_shown = 8;
  std::int64_t skipped[] = {loader.skipped()};
  sum_over_ranks(*talk_, skipped);
  skipped_ = skipped[0] + (carried_ ? carried_->skipped : 0);
  if (skipped_ == 0) return;
  std::string reasons;
  for (const std::string& reason : loader.first_skipped()) reasons += one_line(reason, 400) + "\n";
  collect(*talk_, std::as_bytes(std::span(reasons)), [&](int, std::span<const std::byte> theirs) {
    std::istringstream lines(std::string(reinterpret_cast<const char*>(theirs.data()), theirs.size()));
    for (std::string line; first_skipped_.size() < most_shown && std::getline(lines, line);)
      first_skipped_.push_back(line);
  });
}

// One rank may have had much to do; the others wait for it as long as it answers.
void Trainer::meet(const std::string& what) { sum_over_ranks(*talk_, {}, while_all_answer(*talk_, job_.limits, what)); }

void Trainer::finish(End::Reason reason, double seconds) {
  trace_.drop_step();
  End end;
  end.reason = reason;
  end.steps = position_.step;
  end.seconds = seconds + (carried_ ? carried_->seconds : 0);
  end.test = evaluated_.results;
  end.target_names = job_.model.target_names;
  if (test_executor_) {
    for (const graph::PlanInput& input : test_executor_->plan().inputs)
      if (input.name == "y") end.target_shape = sample_shape(input.shape);
  }
  end.predictions = evaluated_.predictions;
  end.targets = evaluated_.targets;
  end.trace = &trace_.all();
  if (job_.on_bad == data::OnBad::skip) end.skipped = skipped_;
  end.first_skipped = first_skipped_;
  end.bad = bad_steps();
  end.staging = staged_.counters();
  end.exchange = job_.strategy->cost();
  end.step_seconds = step_seconds_ + (carried_ ? carried_->step_seconds : 0);
  end.viewer = viewer_.get();
  if (saving_) end.checkpoints = saving_->counts();
  for (Sink* sink : sinks_) sink->end(end);
  meet("the end of the run");  // no rank leaves before the last file is written: one that fails there ends all
}

}  // namespace isobar::train
