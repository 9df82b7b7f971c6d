// Saving: when a run writes checkpoints and what comes of them, on the rank that writes. A checkpoint that is due while
// the one before is still being written is left out; one that cannot be written is warned of, and the run goes on.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "isobar/checkpoint/checkpoint_writer.hpp"
#include "isobar/train/events.hpp"

namespace isobar::train {

/// The section [checkpoint] of a recipe.
struct SaveOptions {
  std::int64_t every_epochs = 0, every_steps = 0;  ///< 0: not by these
  double every_minutes = 10;                       ///< 0: not by the clock
  std::string best{};                              ///< a result whose best is kept as best.h5; empty: none
  std::int64_t keep = 2;                           ///< the newest, besides the best
  bool background = true;                          ///< written while training goes on
};

class Saving {
 public:
  /// Of a run in that folder that stands at `step`, at `seconds` of a clock; `best`: of the metric so far, NaN: none.
  Saving(SaveOptions options, const std::filesystem::path& run, std::int64_t step, double seconds, double best,
         checkpoint::CheckpointWriter::Write write = checkpoint::write_checkpoint);

  /// Whether one is to be written after a step within an epoch.
  bool due_after(std::int64_t step, double seconds);
  /// Whether one is to be written behind an epoch, after its last step, and as what, with the results of its
  /// evaluation.
  checkpoint::SaveAs due_behind(std::int64_t epoch, std::int64_t step, double seconds,
                                const std::map<std::string, double>& results);

  /// Memory for the next one; waits for the one before if that is still being written.
  checkpoint::Snapshot& draft();
  /// Begins to write the draft, for which the run stood still so long.
  void begin(checkpoint::SaveAs as, double seconds, double stood_still);
  /// Those that are complete since the last call; warns of the others, once per outage.
  std::vector<CheckpointDone> completed();
  /// The same, after waiting for the last one.
  std::vector<CheckpointDone> finish();
  /// Why the last of those that have ended could not be written; empty: it could.
  const std::string& last_problem() const { return last_problem_; }
  /// Does not wait for what is being written any more.
  void release() { writer_.release(); }

  const SaveCounts& counts() const { return counts_; }
  double best() const { return best_; }

 private:
  bool due(std::int64_t step, double seconds) const;
  bool leave_out(std::int64_t step);

  SaveOptions options_;
  checkpoint::CheckpointWriter writer_;
  std::int64_t last_step_;
  double last_seconds_, stood_still_ = 0;
  double best_, wished_best_;
  bool unknown_best_ = false;
  std::string last_problem_;
  SaveCounts counts_;
};

}  // namespace isobar::train
