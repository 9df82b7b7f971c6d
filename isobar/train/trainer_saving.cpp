// How a run saves itself: all ranks settle what they gathered for themselves, rank 0 copies the state, and all go on
// while it is written. Saving changes nothing in the run: every rank gets back what it had, to the last bit.
#include <nlohmann/json.hpp>

#include "isobar/base/clock.hpp"
#include "isobar/base/config.hpp"
#include "isobar/train/agreement.hpp"
#include "isobar/train/trainer.hpp"

namespace isobar::train {
namespace {

// What this rank has gathered for itself; put back at the end, whatever happens in between.
class OwnState {
 public:
  OwnState(exec::ParamStore& store, std::span<double> own)
      : statistics(own_statistics(store)), numbers(own.begin(), own.end()), store_(store), own_(own) {}
  ~OwnState() {
    set_own_statistics(store_, statistics);
    std::ranges::copy(numbers, own_.begin());
  }
  OwnState(const OwnState&) = delete;

  const std::vector<float> statistics;
  const std::vector<double> numbers;

 private:
  exec::ParamStore& store_;
  std::span<double> own_;
};

}  // namespace

void Trainer::save(SaveAs as) {
  save_settled(as);
  begin_good_states();
}

void Trainer::save_settled(SaveAs as) {
  world_.note(fmt::format("checkpoint after step {}", position_.step));
  const double begin = now_seconds();
  const OwnState mine(*store_, job_.strategy->own_numbers());
  job_.strategy->settle(*replica_);
  Snapshot nobody;  // ranks above 0 keep none
  Snapshot& draft = first() ? saving_->draft() : nobody;
  if (first()) {
    take_snapshot(draft, *store_, position_, kept());
    draft.seed = job_.seed;
    draft.recipe = write_recipe(job_.recipe);
    draft.plan = fmt::format("{:016x}", plan().fingerprint());
    draft.metrics = metrics_;
  }
  gather_own(draft, mine.statistics, mine.numbers);
  if (first()) saving_->begin(as, now_seconds(), now_seconds() - begin);
}

// Where they are equal on all ranks, or there are none, those of one rank do.
void Trainer::gather_own(Snapshot& into, const std::vector<float>& statistics, const std::vector<double>& numbers) {
  into.ranks = 1;
  into.statistics = statistics;
  into.own_numbers = numbers;
  if (world_.size() == 1 || job_.deterministic || statistics.empty()) return;
  const auto gather = [&]<class T>(const std::vector<T>& mine, std::vector<T>& all) {
    all.clear();
    collect(*talk_, std::as_bytes(std::span(mine)), [&](int, std::span<const std::byte> theirs) {
      const std::size_t before = all.size();
      all.resize(before + theirs.size() / sizeof(T));
      std::ranges::copy(
          theirs, std::as_writable_bytes(std::span(all)).begin() + static_cast<std::ptrdiff_t>(before * sizeof(T)));
    });
  };
  into.ranks = world_.size();
  gather(statistics, into.statistics);
  gather(numbers, into.own_numbers);
}

// Rank 0 decides, by its clock and by what is still being written, and tells the others before the step it follows.
bool Trainer::save_follows(std::int64_t batches) {
  if (!first()) return false;
  tell(saving_->completed());
  // Behind the last step of an epoch its evaluation comes first, and belongs to the checkpoint.
  if (position_.step_in_epoch + batches >= batches_per_epoch_) return false;
  return saving_->due_after(position_.step + 1, now_seconds());
}

// Together with the position they belong to: a state that goes to another rank has both or neither.
void Trainer::note_metrics(const EpochDone& done) {
  nlohmann::ordered_json line{{"epoch", done.epoch}, {"step", done.step}, {"train_loss", done.train_loss}};
  if (!done.test.empty()) line["test"] = done.test;
  if (done.skipped) line["skipped"] = *done.skipped;
  metrics_ += line.dump() + "\n";
}

void Trainer::save_behind_epoch(const EpochDone& done) {
  std::int64_t due[] = {0, 0};
  if (first()) {
    const SaveAs as = saving_->due_behind(done.epoch, position_.step, now_seconds(), done.test);
    // What is written at the end anyway is not written twice.
    due[0] = as.step && done.epoch < job_.epochs, due[1] = as.best;
  }
  sum_over_ranks(*talk_, due, until_stalled(*talk_, job_.limits, fmt::format("the end of epoch {}", done.epoch)));
  if (due[1] > 0) best_ = done.test.at(job_.saving.best);
  if (due[0] + due[1] > 0) save({.step = due[0] > 0, .best = due[1] > 0});
}

void Trainer::tell(const std::vector<CheckpointDone>& saved) {
  for (const CheckpointDone& done : saved)
    for (Sink* sink : sinks_) sink->checkpoint(done);
}

// The one that is awaited. Returns why it could not be written, on rank 0, or nothing.
std::string Trainer::save_last() {
  if (first()) tell(saving_->finish());
  save({});
  if (!first()) return "";
  tell(saving_->finish());
  return saving_->last_problem();
}

}  // namespace isobar::train
