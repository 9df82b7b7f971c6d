// The levels of `isobar bench`, in the order in which they are measured.
#include <unistd.h>

#include "isobar/base/error.hpp"
#include "isobar/cli/bench_level.hpp"

namespace isobar::cli {

extern const BenchLevel networks_level;   // bench_networks.cpp
extern const BenchLevel operators_level;  // bench_operators.cpp
extern const BenchLevel ranks_level;      // bench_ranks.cpp
extern const BenchLevel reads_level;      // bench_reads.cpp
extern const BenchLevel saves_level;      // bench_sinks.cpp
extern const BenchLevel sinks_level;      // bench_sinks.cpp
extern const BenchLevel splits_level;     // bench_splits.cpp
extern const BenchLevel sums_level;       // bench_ranks.cpp
extern const BenchLevel training_level;   // bench_training.cpp

std::span<const BenchLevel* const> bench_levels() {
  static constexpr const BenchLevel* all[] = {&operators_level, &networks_level, &training_level,
                                              &reads_level,     &sums_level,     &ranks_level,
                                              &splits_level,    &sinks_level,    &saves_level};
  return all;
}

bench::Effort BenchOptions::effort(int most_rounds, double most_seconds) const {
  bench::Effort effort{.rounds = rounds_or(most_rounds), .seconds = seconds > 0 ? seconds : most_seconds};
  effort.least = std::min(effort.least, effort.rounds);
  return effort;
}

ScratchFolder::ScratchFolder(const std::string& below)
    : path_((below.empty() ? std::filesystem::temp_directory_path() : std::filesystem::path(below)) /
            fmt::format("isobar-bench-{}", getpid())) {
  std::error_code problem;
  std::filesystem::create_directories(path_, problem);
  if (problem) fail("bench: '{}' cannot be made: {}; --scratch names another place", path_.string(), problem.message());
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void note(const std::string& now) {
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\033[K{}", now);
}

}  // namespace isobar::cli
