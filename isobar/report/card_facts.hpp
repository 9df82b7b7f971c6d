// What the rows of a run card are made from, collected once, and the phrases they share. A row is a function of
// CardFacts; it states a figure, or says what is missing and how to obtain it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "isobar/record/choices.hpp"
#include "isobar/record/run_record.hpp"
#include "isobar/report/ledger.hpp"
#include "isobar/report/quality.hpp"
#include "isobar/report/references.hpp"

namespace isobar::report {

struct CardFacts {
  explicit CardFacts(const record::RunRecord& of);

  const record::RunRecord& run;
  Ledger ledger;
  Siblings siblings;
  std::vector<Evaluation> evaluations, judging;
  std::string judged;  ///< judged_by()
  const Reference* reference = nullptr;
  std::optional<train::Target> target;  ///< of the recipe

  bool validates() const { return record::has_validation(run.recipe); }
  bool timed() const { return run.samples_per_second() > 0; }
  /// Qualifies the figures of a run that ended early or met bad numbers: " (interrupted after step 20)"; otherwise "".
  std::string ending() const;
  /// "test mae 0.2431 after epoch 3"; needs an evaluation.
  std::string result() const;
  /// "26.1 samples/s", and whose these are where teams go at their own pace.
  std::string told(double samples_per_second) const;
  /// That of its steps.
  std::string speed() const { return told(run.samples_per_second()); }
  /// The value of `section.key` in the recipe as text; empty if it is missing.
  std::string setting(std::string_view section, std::string_view key) const;
  /// True if samples are read from files.
  bool reads_files() const;
  /// Why this run cannot be compared with the published one; empty when it can.
  std::string not_comparable() const;

  /// A command, in backquotes, that repeats the run in a sibling folder with additional settings.
  std::string again(const std::string& settings) const;
  /// A command, in backquotes, that resumes the run, or repeats it if there is nothing to resume from.
  std::string to_its_end() const;
};

/// The result of a row: a figure, or what is missing.
struct CardFinding {
  bool shown = false;
  std::string text{};
};

inline CardFinding shown(std::string figure) { return {true, std::move(figure)}; }
inline CardFinding not_shown(std::string missing) { return {false, std::move(missing)}; }

// card_quality.cpp
CardFinding accuracy_with_speed(const CardFacts& facts);
CardFinding test_accuracy(const CardFacts& facts);
CardFinding same_run(const CardFacts& facts);
CardFinding time_to_solution(const CardFacts& facts);
CardFinding against_reference(const CardFacts& facts);

// card_cost.cpp
CardFinding tuning_runs(const CardFacts& facts);
CardFinding whole_application(const CardFacts& facts);
CardFinding input_and_staging(const CardFacts& facts);
CardFinding flops(const CardFacts& facts);

// card_setting.cpp
CardFinding hardware(const CardFacts& facts);
CardFinding input_size(const CardFacts& facts);
CardFinding scaling_kind(const CardFacts& facts);

}  // namespace isobar::report
