// A level of `isobar bench`: one kind of measurement. Each level is a file and a row in a table.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/bench/harness.hpp"
#include "isobar/cli/bench_ranks.hpp"
#include "isobar/cli/bench_sinks.hpp"
#include "isobar/cli/record_book.hpp"

namespace isobar::cli {

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

}  // namespace isobar::cli
