// A level of `isobar bench`: one kind of measurement. Each level is a file and a row in a table.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "isobar/bench/harness.hpp"
#include "isobar/cli/record_book.hpp"

namespace isobar::cli {

/// Options of the levels that use several ranks.
struct RankOptions {
  int ranks = 2;
  std::string exchange = "none";  ///< of a contestant: a strategy, or none
  std::string rank_model = "cosmoflow(size=64)", strategy = "sync";
  std::string split_model = "cosmoflow(size=128)";
  std::string split;  ///< of a contestant: none; of the level: by depth, over all ranks
  std::string algorithm = "auto";
  std::vector<std::size_t> bytes{};  ///< of sums; empty: from 1 kB to 256 MB
  std::string launcher;
};

/// Options of `sinks` and `saves`.
struct SinkOptions {
  std::string model;  ///< empty: that of the contest
  std::string serve;  ///< of a contestant: none, all, every or saves; empty: this is not one
};

/// The command-line options of all levels.
struct BenchOptions {
  std::vector<std::string> models{};  ///< networks to measure; empty: those of the zoo
  std::vector<std::string> only{};    ///< operators to measure; empty: all
  std::int64_t batch = 1;
  int rounds = 0;      ///< 0: the level's default
  double seconds = 0;  ///< for measuring one row; 0: the level's default
  int threads = 1;
  std::string peers{};  ///< folder of the peer programs; empty: no peers
  std::string scratch{};
  RankOptions ranks{};
  SinkOptions sinks{};
  std::string training_recipe{};  ///< of a contestant of `training`; empty: this is not one

  int rounds_or(int otherwise) const { return rounds > 0 ? rounds : otherwise; }
  /// The effort for a row: these limits, unless the command line overrides them.
  bench::Effort effort(int most_rounds, double most_seconds) const;
};

struct BenchLevel {
  std::string_view name;
  std::string_view summary;
  void (*run)(const BenchOptions& options, RecordBook& book);
};

/// In the order in which they are measured.
std::span<const BenchLevel* const> bench_levels();

/// A folder that is removed when it is no longer needed.
class ScratchFolder {
 public:
  /// Created in `below`, or in the system's folder for temporary files.
  explicit ScratchFolder(const std::string& below);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Shows the current activity in a line that is later erased; an empty text erases it.
void note(const std::string& now);

// bench_ranks.cpp
void add_rank_options(CLI::App& command, RankOptions& options);
/// Serves training steps to the contest that started this program.
void serve_ranks(const std::string& model, std::int64_t batch, int threads, const RankOptions& options);
/// If this program runs on several ranks: measures sums among them, writes them to the file `record` unless its name is
/// empty, and returns true.
bool measure_sums_here(const RankOptions& options, int rounds, const std::string& record);

// bench_sinks.cpp
void add_sink_options(CLI::App& command, SinkOptions& options);
/// Serves training steps of a whole run, with files below `scratch`, to the contest that started this program. The run
/// has no sinks, with or without checkpoints, or all sinks, with the usual share of steps traced or every step.
void serve_sinks(const SinkOptions& options, const std::filesystem::path& scratch);

// bench_training.cpp
/// Trains the recipe in a file and serves its epochs to the contest that started this program: the answer to "epoch" is
/// seconds of training, seconds of evaluation and the metric by which the recipe is judged.
void serve_training(const std::string& recipe);

// bench_page.cpp
/// The records as self-contained HTML. If a row occurs several times, the last one is shown.
std::string bench_page(const std::vector<bench::Record>& records);

}  // namespace isobar::cli
