#include "isobar/train/keeper.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <nlohmann/json.hpp>

#include "isobar/base/clock.hpp"
#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"
#include "isobar/train/agreement.hpp"
#include "isobar/train/rank_state.hpp"
#include "isobar/train/run_folder.hpp"
#include "isobar/train/run_tuning.hpp"

namespace isobar::train {
namespace {

// What this rank has gathered for itself; put back at the end, whatever happens in between.
class OwnState {
 public:
  OwnState(exec::ParamStore& store, exec::StateBlocks state)
      : numbers{checkpoint::own_statistics(store), numbers_of(state, each_rank)},
        store_(store),
        state_(std::move(state)) {}
  ~OwnState() {
    checkpoint::set_own_statistics(store_, numbers.statistics);
    set_numbers(state_, each_rank, numbers.lists);
  }
  OwnState(const OwnState&) = delete;

  const OwnNumbers numbers;

 private:
  static constexpr auto each_rank = exec::StateBlock::Scope::each_rank;

  exec::ParamStore& store_;
  exec::StateBlocks state_;
};

}  // namespace

Keeper::Keeper(Session& session, const Listeners& listeners)
    : session_(session),
      listeners_(listeners),
      judgements_(session.job().saving.best),
      good_states_(session.job().numbers.rewind_every) {}

void Keeper::open(Membership& members) {
  load(members);
  recall_judgements();
  finished_ = position_;
  const Job& job = session_.job();
  if (session_.is_first())
    saving_ =
        std::make_unique<Saving>(job.saving, job.folder, position_.step, now_seconds(), best_, job.write_checkpoint);
  members.opened(position_.step);
  begin_good_states();
}

void Keeper::load(Membership& members) {
  const Job& job = session_.job();
  const bool first = session_.is_first();
  if (!members.has_state()) {
    Opened opened = open_run(job, session_.batching(), session_.store(), session_.kept(), session_.start());
    position_ = opened.position;
    metrics_ = std::move(opened.metrics);
    best_ = opened.best;
    if (first && session_.network().tuning) keep_tuning(job.folder, *session_.network().tuning);
    return;
  }
  const checkpoint::Snapshot& state = members.take_state();
  if (first && !take_over_folder(job, session_.batching()))
    throw NotInPlace(fmt::format("rank {} does not see the run folder '{}' and cannot take over its files",
                                 session_.trainers().members()[0], job.folder.string()));
  const exec::StateBlocks blocks = session_.kept();
  restore(state, session_.store(), blocks);
  hand_over_state(session_.start(), state, members.count_before(), session_.store(), blocks);
  position_ = state.position;
  position_.rows = session_.batching().rows;
  metrics_ = state.metrics;
  best_ = state.best;
}

void Keeper::take(checkpoint::Snapshot& into) {
  if (!session_.strategy().traits().recovers)
    throw NotInPlace(fmt::format("strategy '{}' cannot go on without what a rank that died had kept or under way",
                                 session_.strategy().describe()));
  checkpoint::take_snapshot(into, session_.store(), finished_, session_.kept());
  into.metrics = metrics_;
  into.best = best_;
}

void Keeper::finish(const EpochDone& done) {
  finish();
  nlohmann::ordered_json line{{"epoch", done.epoch}, {"step", done.step}, {"train_loss", done.train_loss}};
  if (!done.validation.empty()) line["validation"] = done.validation;
  if (!done.test.empty()) line["test"] = done.test;
  if (done.skipped) line["skipped"] = *done.skipped;
  metrics_ += line.dump() + "\n";
  judgements_.add(judged(done));
}

const std::map<std::string, double>& Keeper::judged(const EpochDone& done) const {
  return session_.job().validation.exists() ? done.validation : done.test;
}

// Equal on all ranks, in every session: the lines have all digits, and what is not a number is null.
void Keeper::recall_judgements() {
  const char* const set = session_.job().validation.exists() ? "validation" : "test";
  judgements_ = Judgements(session_.job().saving.best);
  std::istringstream lines(metrics_);
  for (std::string text; std::getline(lines, text);) {
    const nlohmann::json line = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!line.is_object() || !line.contains(set)) continue;
    std::map<std::string, double> results;
    for (const auto& [name, value] : line[set].items())
      results[name] = value.is_number() ? value.get<double>() : std::nan("");
    judgements_.add(results);
  }
}

bool Keeper::ends_early(const Judgements& judgements) const {
  const std::int64_t patience = session_.job().patience;
  return patience > 0 && judgements.since_best() >= patience;
}

bool Keeper::would_end_early(const std::map<std::string, double>& results) const {
  Judgements after = judgements_;
  after.add(results);
  return ends_early(after);
}

// At the start of a session, and at a checkpoint: a run that is resumed from there has no other.
void Keeper::begin_good_states() {
  if (session_.job().numbers.policy != BadNumbers::Policy::rewind) return;
  settle(parallel::Settle::sums);
  good_states_.begin(session_.store(), position_, session_.kept());
}

void Keeper::renew_good_state() {
  if (session_.job().numbers.policy != BadNumbers::Policy::rewind || !good_states_.due(position_)) return;
  settle(parallel::Settle::sums);
  good_states_.renew(session_.store(), position_, session_.kept());
}

std::int64_t Keeper::go_back() {
  const checkpoint::Snapshot& good = good_states_.go_back(position_);
  restore(good, session_.store(), session_.kept());
  ++position_.rewinds;
  position_.rate_scale *= session_.job().numbers.rewind_rate;
  position_.undone = position_.step - (good.position.step - good.position.undone);
  return good.position.step;
}

bool Keeper::save_follows(std::int64_t batches) {
  if (!session_.is_first()) return false;
  listeners_.checkpoints(saving_->completed());
  // Behind the last step of an epoch its evaluation comes first, and belongs to the checkpoint.
  if (position_.step_in_epoch + batches >= session_.batches_per_epoch()) return false;
  return saving_->due_after(position_.step + 1, now_seconds());
}

// All ranks settle what they gathered for themselves, rank 0 copies the state, and all go on while it is written.
void Keeper::save(checkpoint::SaveAs as) {
  session_.trainers().note(fmt::format("checkpoint after step {}", position_.step));
  const double begin = now_seconds();
  settle(parallel::Settle::sums);
  {
    const OwnState mine(session_.store(), session_.kept());
    settle(parallel::Settle::judged);
    checkpoint::Snapshot nobody;  // ranks above 0 keep none
    checkpoint::Snapshot& into = session_.is_first() ? saving_->draft() : nobody;
    if (session_.is_first()) draft(into);
    gather_state(session_.talk(), session_.store(), session_.kept(), mine.numbers, session_.job().deterministic, into);
    if (session_.is_first()) saving_->begin(as, now_seconds(), now_seconds() - begin);
  }
  begin_good_states();
}

void Keeper::settle(parallel::Settle until) { session_.strategy().settle(*session_.network().replica, until); }

void Keeper::draft(checkpoint::Snapshot& into) const {
  checkpoint::take_snapshot(into, session_.store(), position_, session_.kept());
  into.seed = session_.job().seed;
  into.recipe = write_recipe(session_.job().recipe);
  into.plan = fmt::format("{:016x}", session_.plan().fingerprint());  // of the first part, where a model is cut
  into.metrics = metrics_;
}

void Keeper::save_behind(const EpochDone& done) {
  const Job& job = session_.job();
  std::int64_t due[] = {0, 0};
  if (session_.is_first()) {
    const checkpoint::SaveAs as = saving_->due_behind(done.epoch, position_.step, now_seconds(), judged(done));
    // What is written at the end anyway is not written twice.
    due[0] = as.step && done.epoch < job.epochs, due[1] = as.best;
  }
  sum_over_ranks(session_.talk(), due,
                 until_stalled(session_.talk(), job.limits, fmt::format("the end of epoch {}", done.epoch)));
  if (due[1] > 0) best_ = judged(done).at(job.saving.best);
  if (due[0] + due[1] > 0) save({.step = due[0] > 0, .best = due[1] > 0});
}

std::string Keeper::save_last() {
  if (session_.is_first()) listeners_.checkpoints(saving_->finish());
  save();
  if (!session_.is_first()) return "";
  listeners_.checkpoints(saving_->finish());
  return saving_->last_problem();
}

void Keeper::release() {
  if (saving_) saving_->release();
}

}  // namespace isobar::train
