// Comparison: several runs side by side: what differs between their recipes, what they reached, how fast, and what of
// that can be compared at all. As everything that shows runs, it reads their folders.
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
  std::string label;  ///< as much of the folder's name as tells it from the others
  record::RunRecord record{};
  Ledger ledger{};
  std::vector<Evaluation> evaluations{};
  std::vector<CardRow> card{};
};

struct Comparison {
  std::vector<ComparedRun> runs{};
  std::vector<Difference> differences{};
  std::vector<std::string> notes{};       ///< what is not comparable, or to be read with care
  std::string metric{};                   ///< all are judged by; empty when they have none in common
  std::optional<train::Target> target{};  ///< for the time it took
  std::string target_origin{};            ///< who set it
  std::optional<Scaling> scaling{};       ///< when nothing but ranks and batch differ, as one kind asks for
  std::vector<ScalingRun> study{};        ///< then, if all runs ended
};

/// A figure of every run, in their order; "" where a run has none.
struct ComparedFigure {
  std::string name;
  std::vector<std::string> values;
};

/// Reads at least two runs; a folder without one, or one that is named twice, is an Error.
Comparison compare(std::span<const std::filesystem::path> folders);

/// Results, speeds and costs, those that some run has.
std::vector<ComparedFigure> compared_figures(const Comparison& comparison);

/// For the terminal.
std::string comparison_text(const Comparison& comparison);
/// A page of its own.
std::string comparison_html(const Comparison& comparison);

/// The pictures of the page: curves of all runs over steps, samples and time; where the time of their steps went.
std::string comparison_curves(const Comparison& comparison);
std::string comparison_categories(const Comparison& comparison);

/// The folder that holds all of them, at any depth.
std::filesystem::path common_parent(std::span<const std::filesystem::path> folders);

}  // namespace isobar::report
