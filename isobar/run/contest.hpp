// Contest: runs of one recipe with several strategies and seeds, one after the other on this machine, each started by a
// call of whoever holds the contest. What was asked and how each run ended is kept in a file, so that a contest that
// was stopped goes on.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "isobar/record/status_line.hpp"
#include "isobar/report/strategy_study.hpp"

namespace isobar::run {

struct ContestSetting {
  std::vector<std::string> strategies{};
  std::vector<std::int64_t> seeds{1};
  std::filesystem::path folder{};
  std::string sameness{};  ///< what must not change between the parts of a contest
};

/// A run that shall be started, and what became of it.
struct ContestStart {
  const report::StudyRun& run;
  bool resumes = false;               ///< it goes on from a checkpoint; otherwise it replaces what is in its folder
  std::filesystem::path output{};     ///< for all it prints
  std::function<void()> meanwhile{};  ///< to be called many times a second until it has ended
};
struct ContestEnd {
  int code = 0;
  bool stopped = false;  ///< because it was asked to
  double peak_bytes = 0;
};

class StrategyContest {
 public:
  /// What to do with a contest that is in the folder already.
  enum class Found { refuse, resume, overwrite };

  /// Opens the folder; a contest that is there is refused, taken up, or replaced.
  StrategyContest(ContestSetting setting, Found found);

  /// Starts what has not ended yet, one after the other, until `stop` is set; after each run `ended` is called. Returns
  /// whether all have ended.
  bool run(const std::function<ContestEnd(const ContestStart&)>& start, const std::atomic<bool>& stop,
           const record::Screen& screen, const std::function<void()>& ended);
  /// All runs, in the order in which they take turns: seed by seed, each time beginning with another strategy.
  const std::vector<report::StudyRun>& runs() const { return runs_; }
  /// How many of them have ended, well or not.
  std::size_t done() const;

 private:
  std::filesystem::path file() const { return setting_.folder / "comparison.json"; }
  bool has_ended(const report::StudyRun& run) const;
  void take_up();
  void keep() const;

  ContestSetting setting_;
  std::vector<report::StudyRun> runs_;
};

/// A strategy as the name of a folder: stale(bound=3) becomes stale-bound-3.
std::string folder_name(const std::string& strategy);

/// What a run said of its failure, in the output that was kept: the last message of the program; else its exit code.
std::string failure_in(const std::filesystem::path& output, int code);

}  // namespace isobar::run
