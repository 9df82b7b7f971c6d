// A run from its recipe, by one call and without a terminal: for the command line, searches, tests and other programs.
// It trains with the ranks of a crew; if some die, the others continue.
#pragma once

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "isobar/base/spec.hpp"
#include "isobar/comm/crew.hpp"
#include "isobar/control/lifeline.hpp"
#include "isobar/record/surroundings.hpp"
#include "isobar/train/trainer.hpp"

namespace isobar::run {

struct Options {
  bool resume = false;          ///< continue from the newest intact checkpoint in the run's folder
  bool overwrite = false;       ///< replace a run that is already in the folder
  bool check = false;           ///< plan the run and check that data and network fit; train and write nothing
  int threads = 0;              ///< per rank; 0: what OpenMP chooses
  std::FILE* screen = nullptr;  ///< where rank 0 shows progress; null: nowhere
};

/// How a run can be stopped and observed from outside; either may be null.
struct Outside {
  std::atomic<bool>* stop = nullptr;      ///< set: the run ends after the next step, with a checkpoint
  control::Lifeline* lifeline = nullptr;  ///< to the launcher, which learns folder and steps and may stop the run
};

/// How a run ended on this rank.
struct Outcome {
  std::optional<train::End::Reason> reason{};  ///< nothing: it ended without this rank
  bool interrupted = false;                    ///< some rank was asked to stop, and the run can be resumed
  bool first = false;                          ///< this rank was rank 0 of the last group
  std::string summary{};                       ///< the size of the run, if it was only checked
  train::Evaluated evaluated{};                ///< the test set after the last epoch, on rank 0 of the group
};

class Training {
 public:
  /// Reads the recipe; whatever is wrong with it is an Error. `name` gives the default folder. All ranks of `world`
  /// must call: rank 0 looks into the files of the data sets for all.
  Training(Spec recipe, std::string name, const Options& options, comm::Comm& world);

  const std::filesystem::path& folder() const { return folder_; }
  /// Trains to the end or until stopped. All ranks of `world` must call once, including spares.
  Outcome run(comm::Comm& world, comm::Crew& crew, const Outside& outside = {});

 private:
  train::Job next_job();
  train::End::Reason session(comm::Comm& group, const Outside& outside);

  Spec recipe_;
  std::string name_;
  Options options_;
  datasets::Survey survey_;          // of the files of the data sets
  std::optional<train::Job> ready_;  // before the first session
  std::filesystem::path folder_;
  int threads_ = 0;  // since the first session; 0: this rank has had none
  record::Surroundings around_{};
  train::Carried carried_;
  Outcome outcome_;
};

/// A whole run in this process alone.
Outcome train_alone(const Spec& recipe, const std::string& name, const Options& options = {});

}  // namespace isobar::run
