// Loop: the epochs and steps of a run. Batches are fetched, ranks agree on what they hold and whether to stop or save,
// the strategy trains; behind every epoch comes its evaluation. It can be driven piece by piece, with advance().
#pragma once

#include <limits>

#include "isobar/train/bad_step_policy.hpp"

namespace isobar::train {

/// Where to pause: behind the first step at which one of these is reached.
struct Until {
  std::int64_t epoch = std::numeric_limits<std::int64_t>::max();  ///< so many epochs are finished
  std::int64_t step = std::numeric_limits<std::int64_t>::max();   ///< so many steps are done
};

/// Bad samples that were left out of training.
struct SkippedSamples {
  std::int64_t count = 0;            ///< on rank 0 those of all ranks, in the sessions before too
  std::vector<std::string> first{};  ///< what was wrong with the first of them
};

class Loop {
 public:
  /// What it works with; all must outlive the loop.
  struct Parts {
    Session& session;
    Keeper& keeper;
    Membership& members;
    const Listeners& listeners;
    StepTrace& trace;
  };
  explicit Loop(const Parts& parts);

  /// Trains until then, or to the end of the run; false when `stop` was set on some rank before. All ranks must call,
  /// with the same goal.
  bool advance(const Until& until, const std::atomic<bool>* stop);
  /// Ends reading: nothing can follow. All ranks that train must call, when none takes steps any more.
  SkippedSamples finish();
  /// Ends reading at once, without the other ranks.
  void drop() { loader_.reset(); }

  /// Whether the ranks have agreed to stop.
  bool stopping() const { return stopping_; }
  /// Of the last epoch, when it was evaluated.
  Evaluated& evaluated() { return evaluated_; }
  const Evaluated& evaluated() const { return evaluated_; }
  /// Of this session; without the seconds since it was opened.
  const SessionCounts& counts() const { return counts_; }

 private:
  /// What ranks know of each other before a step.
  struct Agreed {
    bool stop = false, save = false;
    std::int64_t samples = 0, skipped = 0;
  };
  enum class After { step, epoch, stop };

  After take_step(const std::atomic<bool>* stop);
  Session::Batches next_batches(std::int64_t factor);
  Agreed agree(const Session::Batches& batches, bool stop);
  void train_on(const Session::Batches& batches, std::int64_t factor, const Agreed& agreed, double begin,
                double wait_seconds);
  void tell(const StepDone& done, double begin, double end);
  Evaluated evaluate_on(bool validation, std::int64_t epoch, bool last, const std::atomic<bool>* stop);
  bool finish_epoch(const std::atomic<bool>* stop);
  optim::Progress progress(std::int64_t factor) const;
  bool is_traced(std::int64_t factor) const;

  Parts parts_;
  BadStepPolicy bad_steps_;
  std::unique_ptr<feeding::Loader> loader_;  // while steps are taken
  std::uint32_t wait_name_, agree_name_;     // in the trace
  std::int64_t steps_ = 0;                   // since the start or resume
  double epoch_seconds_ = 0;                 // of the epoch under way, without its evaluation
  bool stopping_;
  SessionCounts counts_;
  Evaluated evaluated_;
};

}  // namespace isobar::train
