// Saving: when a run writes checkpoints and whether they succeed, on the rank that writes. A checkpoint that is due
// while the previous one is still being written is left out; if one cannot be written, the run warns and continues.
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
  std::int64_t every_epochs = 0, every_steps = 0;  ///< 0: not by epochs or steps
  double every_minutes = 10;                       ///< 0: not by the clock
  std::string best{};                              ///< the result that decides what is kept as best.h5; empty: none
  std::int64_t keep = 2;                           ///< how many of the newest are kept, besides the best
  bool background = true;                          ///< written while training continues
};

class Saving {
 public:
  /// For the run in folder `run`, which stands at `step` at time `seconds`; `best`: the best result so far, NaN: none.
  Saving(SaveOptions options, const std::filesystem::path& run, std::int64_t step, double seconds, double best,
         checkpoint::CheckpointWriter::Write write = checkpoint::write_checkpoint);

  /// Whether a checkpoint is to be written after a step within an epoch.
  bool due_after(std::int64_t step, double seconds);
  /// Whether a checkpoint is to be written after an epoch, and as what; `results` are those of its evaluation.
  checkpoint::SaveAs due_behind(std::int64_t epoch, std::int64_t step, double seconds,
                                const std::map<std::string, double>& results);

  /// Memory for the next checkpoint; waits for the previous one if that is still being written.
  checkpoint::Snapshot& draft();
  /// Begins to write the draft, for which training was paused for `stood_still` seconds.
  void begin(checkpoint::SaveAs as, double seconds, double stood_still);
  /// The checkpoints completed since the last call; warns about failed ones, once per outage.
  std::vector<CheckpointDone> completed();
  /// The same, after waiting for the last checkpoint.
  std::vector<CheckpointDone> finish();
  /// Why the last checkpoint could not be written; empty if it was.
  const std::string& last_problem() const { return last_problem_; }
  /// Stops waiting for a checkpoint that is still being written.
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
