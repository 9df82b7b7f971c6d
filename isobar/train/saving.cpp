#include "isobar/train/saving.hpp"

#include <cmath>
#include <cstdio>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/disk/disk_warnings.hpp"
#include "isobar/train/target.hpp"

namespace isobar::train {
namespace {

void warn(const std::string& text) {
  fmt::print(stderr, "isobar: warning: {}\n", text);
  std::fflush(stderr);
}

std::vector<std::string> names_of(const std::map<std::string, double>& results) {
  std::vector<std::string> names;
  for (const auto& [name, value] : results) names.push_back(name);
  return names;
}

}  // namespace

Saving::Saving(SaveOptions options, const std::filesystem::path& run, std::int64_t step, double seconds, double best,
               checkpoint::CheckpointWriter::Write write)
    : options_(std::move(options)),
      writer_(checkpoint::CheckpointShelf(run, options_.keep), options_.background, std::move(write)),
      last_step_(step),
      last_seconds_(seconds),
      best_(best),
      wished_best_(best) {}

bool Saving::leave_out(std::int64_t step) {
  if (!writer_.busy()) return false;
  if (counts_.left_out++ == 0)
    warn(
        fmt::format("the checkpoint after step {} is left out: the one before is still being written; the run goes on, "
                    "and others may be left out too",
                    step));
  return true;
}

bool Saving::due(std::int64_t step, double seconds) const {
  if (step == last_step_) return false;
  if (options_.every_steps > 0 && step % options_.every_steps == 0) return true;
  return options_.every_minutes > 0 && seconds - last_seconds_ >= 60 * options_.every_minutes;
}

bool Saving::due_after(std::int64_t step, double seconds) { return due(step, seconds) && !leave_out(step); }

checkpoint::SaveAs Saving::due_behind(std::int64_t epoch, std::int64_t step, double seconds,
                                      const std::map<std::string, double>& results) {
  checkpoint::SaveAs as{.step = due(step, seconds), .best = false};
  if (options_.every_epochs > 0 && epoch % options_.every_epochs == 0) as.step = true;
  wished_best_ = best_;
  const auto found = results.find(options_.best);
  if (!options_.best.empty() && !results.empty() && found == results.end() && !std::exchange(unknown_best_, true))
    warn(fmt::format("checkpoint.best '{}' is not a result of an evaluation: no best.h5 is written; valid: {}",
                     options_.best, join(names_of(results), ", ")));
  if (!options_.best.empty() && found != results.end()) {
    const double now = found->second;
    as.best = !std::isnan(now) && (std::isnan(best_) || (larger_is_better(options_.best) ? now > best_ : now < best_));
    if (as.best) wished_best_ = now;
  }
  if ((as.step || as.best) && leave_out(step)) return {.step = false, .best = false};
  return as;
}

checkpoint::Snapshot& Saving::draft() {
  writer_.wait();
  return writer_.draft();
}

void Saving::begin(checkpoint::SaveAs as, double seconds, double stood_still) {
  checkpoint::Snapshot& draft = writer_.draft();
  if (as.best) best_ = wished_best_;
  draft.best = best_;
  last_step_ = draft.position.step;
  last_seconds_ = seconds;
  stood_still_ = stood_still;
  writer_.start(as);
}

std::vector<CheckpointDone> Saving::completed() {
  std::vector<CheckpointDone> done;
  for (const checkpoint::SaveOutcome& outcome : writer_.outcomes()) {
    last_problem_ = outcome.problem;
    if (!outcome.problem.empty()) {
      ++counts_.failed;
      disk::disk_warnings().failed(outcome.file.parent_path(), outcome.cause);
      continue;
    }
    ++counts_.written;
    disk::disk_warnings().wrote(outcome.file.parent_path());
    done.push_back({outcome.file, outcome.step, outcome.bytes,
                    stood_still_ + (options_.background ? 0 : outcome.write_seconds), outcome.write_seconds});
  }
  return done;
}

std::vector<CheckpointDone> Saving::finish() {
  writer_.wait();
  return completed();
}

}  // namespace isobar::train
