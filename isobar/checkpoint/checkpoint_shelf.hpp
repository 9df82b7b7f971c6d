// CheckpointShelf: the checkpoints in the folder of a run: checkpoints/step_000120.h5, of which the newest are kept,
// and best.h5. A file with such a name is complete: it was on disk before it got the name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "isobar/checkpoint/checkpoint.hpp"

namespace isobar::checkpoint {

class CheckpointShelf {
 public:
  /// The shelf of the run in that folder; the newest `keep` checkpoints are kept.
  explicit CheckpointShelf(const std::filesystem::path& run, std::int64_t keep = 2);

  struct Item {
    std::int64_t step = 0;
    std::filesystem::path file;
  };

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path file_of(std::int64_t step) const;
  std::filesystem::path best_file() const { return folder_ / "best.h5"; }

  /// All except the best, newest first, intact or not.
  std::vector<Item> list() const;

  struct Found {
    std::optional<CheckpointFile> file{};  ///< verified to its last byte
    std::vector<std::string> skipped{};    ///< newer checkpoints and why they were not used
  };
  Found newest_intact() const;

  /// Removes checkpoints up to `newest`, which has just been written, except the newest `keep` of them.
  void prune(std::int64_t newest) const;
  /// Makes the folder and removes files that a killed run left half-written.
  void tidy() const;
  /// The run continues from `step`: later checkpoints, damaged or from an abandoned past, are renamed.
  void set_aside_after(std::int64_t step) const;

 private:
  std::filesystem::path folder_;
  std::int64_t keep_;
};

}  // namespace isobar::checkpoint
