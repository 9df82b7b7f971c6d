// Comparison: several runs side by side: how their recipes differ, what they reached, how fast, and which of these
// figures can be compared at all. Like everything that shows runs, it reads their folders.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isobar/report/ledger.hpp"
#include "isobar/report/quality.hpp"
#include "isobar/report/recipe_differences.hpp"
#include "isobar/report/run_card.hpp"
#include "isobar/report/scaling.hpp"

namespace isobar::report {

struct ComparedRun {
  std::string label;  ///< as much of the folder's name as distinguishes it from the others
  record::RunRecord record{};
  Ledger ledger{};
  std::vector<Evaluation> evaluations{}, judging{};
  std::vector<CardRow> card{};
};

struct Comparison {
  std::vector<ComparedRun> runs{};
  std::vector<Difference> differences{};
  std::vector<std::string> notes{};       ///< what is not comparable, or needs care
  std::string metric{};                   ///< that all are judged by; empty if they have none in common
  std::optional<train::Target> target{};  ///< for the time to reach it
  std::string target_origin{};            ///< who set it
  std::optional<Scaling> scaling{};       ///< if only ranks and batch differ, as in one kind of scaling
  std::vector<ScalingRun> study{};        ///< in that case, if all runs ended
};

/// A figure of every run, in order; "" where a run has none.
struct ComparedFigure {
  std::string name;
  std::vector<std::string> values;
};

/// Reads at least two runs; a folder without a run, or named twice, is an Error.
Comparison compare(std::span<const std::filesystem::path> folders);

/// Results, speeds and costs that at least one run has.
std::vector<ComparedFigure> compared_figures(const Comparison& comparison);

/// For the terminal.
std::string comparison_text(const Comparison& comparison);
/// A self-contained page.
std::string comparison_html(const Comparison& comparison);

/// The charts of the page: curves of all runs over steps, samples and time; where the time of their steps went.
std::string comparison_curves(const Comparison& comparison);
std::string comparison_categories(const Comparison& comparison);

/// The deepest folder that contains all of them.
std::filesystem::path common_parent(std::span<const std::filesystem::path> folders);

}  // namespace isobar::report
