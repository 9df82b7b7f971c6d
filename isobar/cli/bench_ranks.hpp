// What `isobar bench` measures on several ranks: sums, compared with the MPI library's own, and training steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace isobar::cli {

struct RankOptions {
  int ranks = 2;
  std::string exchange = "none";  ///< of a contestant: a strategy, or none
  std::string rank_model = "cosmoflow(size=64)", strategy = "sync";
  std::string algorithm = "auto";
  std::vector<std::size_t> bytes{};  ///< of sums; empty: from 1 kB to 256 MB
  std::string launcher;
};

void add_rank_options(CLI::App& command, RankOptions& options);

/// Serves training steps to the contest that started this program.
void serve_ranks(const std::string& model, std::int64_t batch, int threads, const RankOptions& options);

/// If this program runs on several ranks: measures sums among them, writes them to the file `record` unless its name is
/// empty, and returns true.
bool measure_sums_here(const RankOptions& options, int rounds, const std::string& record);

}  // namespace isobar::cli
