// A level of `isobar bench`: one kind of measurement. Levels stand in a table; each is a file with a row.
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

/// What the command line says, for all levels.
struct BenchOptions {
  std::vector<std::string> models{};  ///< networks: which; empty: those of the zoo
  std::vector<std::string> only{};    ///< operators: which; empty: all
  std::int64_t batch = 1;
  int rounds = 0;      ///< 0: as the level has it
  double seconds = 0;  ///< of measuring one row; 0: as the level has it
  int threads = 1;
  std::string peers{};  ///< folder of the peer programs; empty: without them
  std::string scratch{};
  RankOptions ranks{};
  SinkOptions sinks{};
  std::string training_recipe{};  ///< of a contestant of `training`; empty: not one

  int rounds_or(int otherwise) const { return rounds > 0 ? rounds : otherwise; }
  /// How much a row may cost, unless the command line says otherwise.
  bench::Effort effort(int most_rounds, double most_seconds) const;
};

struct BenchLevel {
  std::string_view name;
  std::string_view summary;
  void (*run)(const BenchOptions& options, RecordBook& book);
};

/// In the order they are measured.
std::span<const BenchLevel* const> bench_levels();

/// A folder that goes when it is no longer needed.
class ScratchFolder {
 public:
  /// Below the folder named, or the system's for temporary files.
  explicit ScratchFolder(const std::string& below);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Shows what is going on, in one line that is gone afterwards; empty: nothing is.
void note(const std::string& now);

}  // namespace isobar::cli
