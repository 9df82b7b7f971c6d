// StageFolder: the folder of one stage on one node. It is filled under a temporary name and gets its own when it is
// complete; a manifest in it says what it holds. The first rank of a node creates and finishes it.
#pragma once

#include <filesystem>
#include <string>

#include "isobar/feeding/stage_plan.hpp"

namespace isobar::feeding {

class StageFolder {
 public:
  StageFolder(const std::filesystem::path& to, const StagePlan& plan, int node);
  ~StageFolder();
  StageFolder(const StageFolder&) = delete;
  StageFolder& operator=(const StageFolder&) = delete;

  /// Whether a finished folder exists, with every file complete.
  bool finished() const;
  /// Creates an empty unfinished folder; too little space is an Error, and so is a folder that another job is filling.
  void begin();
  /// Where a file is written while the folder is unfinished.
  std::filesystem::path unfinished(const StageFile& file) const;
  /// Creates the folders that ranks see, writes the manifest, and gives the folder its name.
  void finish();
  /// Removes an unfinished folder; never throws.
  void discard() noexcept;

  const std::filesystem::path& path() const { return final_; }
  /// The value that a source's argument gets for a rank.
  std::string path_of(std::int64_t source, int rank) const;

 private:
  std::string manifest() const;
  void make_view(int rank) const;

  const StagePlan& plan_;
  int node_;
  std::filesystem::path final_, partial_;
  int lock_ = -1;
};

}  // namespace isobar::feeding
