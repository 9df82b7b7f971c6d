// StrategyStudy: the same recipe trained with several strategies and several seeds, side by side: what each strategy
// reached, how soon, and how certain that is. Like everything that shows runs, it reads their folders.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isobar/report/curves.hpp"
#include "isobar/report/quality.hpp"

namespace isobar::report {

/// A run of a study, as whoever started it knows it.
struct StudyRun {
  std::string strategy;  ///< as the user named it
  std::int64_t seed = 1;
  std::filesystem::path folder{};
  std::string failure{};  ///< why it failed; empty: it did not
  double peak_bytes = 0;  ///< the most memory that one of its processes had; 0: not known
};

/// What was asked.
struct StudySetting {
  std::string recipe{};                   ///< its name
  std::vector<std::string> strategies{};  ///< in the order of the rows
  int ranks = 1;                          ///< those that serve included
  std::string slow{};                     ///< ranks made slower: "1:3"
  std::optional<train::Target> target{};
};

/// A mean over seeds with its 95 % interval (Student's t); of one seed the interval is the value.
struct SeedMean {
  double mean = 0, low = 0, high = 0;
  std::size_t seeds = 0;
};
SeedMean mean_of_seeds(std::span<const double> values);

/// What one run came to.
struct StudiedRun {
  enum class State { finished, diverged, failed, unfinished };
  StudyRun run;
  State state = State::unfinished;
  std::string reason{};                ///< why it has no result: one line; empty if it finished
  std::optional<double> result{};      ///< of the metric, at the end
  std::optional<double> to_target{};   ///< seconds, staging, evaluations and checkpoints included
  double seconds = 0;                  ///< of the whole run
  double samples_per_second = 0;       ///< of all ranks over the whole run, evaluations and checkpoints included
  std::optional<double> bytes_sent{};  ///< by rank 0 in a step
  double memory_bytes = 0;             ///< of the largest rank, measured; if not known, what its plan takes
  std::optional<double> staleness{};   ///< how many updates old gradients were on average
  std::string exchanged{};             ///< what came of the strategy, as the run said at its end
};

/// "finished", "diverged", ...
const char* state_name(StudiedRun::State state);

/// A strategy with its runs, in the order of their seeds.
struct StudiedStrategy {
  std::string name;
  std::vector<StudiedRun> runs{};
  SeedMean result{};                ///< over the runs that finished
  std::vector<double> speeds{};     ///< samples per second of the runs that finished, sorted
  std::vector<double> to_target{};  ///< of the runs that reached it, sorted
  std::size_t finished = 0;
};

struct StrategyStudy {
  StudySetting setting;
  std::string metric{};                   ///< that all are judged by; empty if nothing was evaluated
  std::string judged_on = "test";         ///< the set it is of: "validation", where the recipe has one
  std::optional<train::Target> target{};  ///< of the setting; if it has none, what all runs that finished reached
  std::vector<StudiedStrategy> strategies{};
  std::vector<Panel> panels{};  ///< loss and metric against samples and seconds, as means over seeds
};

/// Reads the folders of the runs; one without a run counts as not begun.
StrategyStudy study_strategies(const StudySetting& setting, std::span<const StudyRun> runs);

/// How old gradients were on average by what a run said of its exchange; nothing if it did not say.
std::optional<double> staleness_in(const std::string& exchanged);

/// A figure of every strategy, in order; "" where one has none.
struct StudyColumn {
  std::string name;
  std::vector<std::string> values;
};
/// State, result, time to target, speed, bytes, staleness, memory.
std::vector<StudyColumn> study_columns(const StrategyStudy& study);

/// Why runs have no result, and what else a reader must know.
std::vector<std::string> study_notes(const StrategyStudy& study);

/// For the terminal; a line for each run; everything as JSON; a page, which links the runs from the folder `beside`.
std::string study_text(const StrategyStudy& study);
std::string study_csv(const StrategyStudy& study);
std::string study_json(const StrategyStudy& study);
std::string study_html(const StrategyStudy& study, const std::filesystem::path& beside);

}  // namespace isobar::report
