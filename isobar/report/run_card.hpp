// The run card: twelve rows, one for each of the known ways to make deep-learning performance look better than it is. A
// row shows the figure that rules this way out, or says that it is missing and how to obtain it; always from what the
// run recorded, never from what was intended.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "isobar/record/run_record.hpp"

namespace isobar::report {

struct CardRow {
  int number = 0;    ///< 1 to 12
  std::string trap;  ///< the misleading practice
  std::string what;  ///< what a fair report shows instead
  bool shown = false;
  std::string figure;   ///< if shown
  std::string missing;  ///< otherwise: what is missing, and how to obtain it; commands in backquotes
};

/// The twelve rows of a run; reads its folder and the runs in sibling folders.
std::vector<CardRow> run_card(const record::RunRecord& run);

int rows_shown(std::span<const CardRow> card);

/// For the terminal, `width` columns wide.
std::string card_text(std::span<const CardRow> card, std::size_t width = 110);
/// The body of the section in a page.
std::string card_html(std::span<const CardRow> card);
/// {"run", "network", "shown", "of", "rows": [{"number", "trap", "what", "shown", "figure" or "missing"}]}.
std::string card_json(const record::RunRecord& run, std::span<const CardRow> card);

/// Writes run_card.json into the folder of the run.
void write_card(const record::RunRecord& run, std::span<const CardRow> card);

}  // namespace isobar::report
