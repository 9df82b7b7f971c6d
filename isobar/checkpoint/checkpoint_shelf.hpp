// CheckpointShelf: the checkpoints in the folder of a run: checkpoints/step_000120.h5, the newest of which are kept,
// and best.h5. A file under such a name is whole: it was on disk before it got the name.
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
  /// Of the run in that folder, of whose checkpoints the newest `keep` are kept.
  explicit CheckpointShelf(const std::filesystem::path& run, std::int64_t keep = 2);

  struct Item {
    std::int64_t step = 0;
    std::filesystem::path file;
  };

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path file_of(std::int64_t step) const;
  std::filesystem::path best_file() const { return folder_ / "best.h5"; }

  /// All but the best, the newest first, intact or not.
  std::vector<Item> list() const;

  struct Found {
    std::optional<CheckpointFile> file{};  ///< verified to its last byte
    std::vector<std::string> skipped{};    ///< newer ones and why they were not taken
  };
  Found newest_intact() const;

  /// Removes those older than the newest `keep` up to `newest`, which has just been written.
  void prune(std::int64_t newest) const;
  /// Makes the folder and removes what a run that was killed left half-written.
  void tidy() const;
  /// The run goes on from `step`: those behind it, damaged or of a past that is given up, get another name.
  void set_aside_after(std::int64_t step) const;

 private:
  std::filesystem::path folder_;
  std::int64_t keep_;
};

}  // namespace isobar::checkpoint
