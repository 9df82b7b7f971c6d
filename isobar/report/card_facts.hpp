// What the rows of a run card are made from, gathered once, and the phrases they share. A row is a function of this;
// each states a figure, or says what is missing and what would show it.
#pragma once

#include <optional>
#include <string>
#include <vector>

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
  std::vector<Evaluation> evaluations;
  std::string judged;  ///< judged_by()
  const Reference* reference = nullptr;
  std::optional<train::Target> target;  ///< of the recipe

  bool timed() const { return run.samples_per_second() > 0; }
  /// How it stands, for a figure that ends early: " (interrupted after step 20)", or "" when it finished without bad
  /// numbers on the way.
  std::string ending() const;
  /// "test mae 0.2431 after epoch 3"; needs an evaluation.
  std::string result() const;
  /// "26.1 samples/s".
  std::string speed() const;
  /// Value of `section.key` in the recipe as text; empty when it is not there.
  std::string setting(std::string_view section, std::string_view key) const;
  /// True when samples are read from files.
  bool reads_files() const;
  /// Why this run cannot be compared with the published one; empty when it can.
  std::string not_comparable() const;

  /// A command, in backquotes: the same run again in a folder beside it, with more settings.
  std::string again(const std::string& settings) const;
  /// The same run gone on with, or made anew where there is nothing to go on from.
  std::string to_its_end() const;
};

/// What a row found out: a figure, or what is missing.
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
