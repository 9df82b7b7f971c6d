// StageFolder: the folder of one stage on one node. It is filled under another name and gets its own when it is whole;
// a manifest in it says what it holds. Of a node's ranks the first makes and finishes it.
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

  /// Whether a finished folder is there, with every file whole.
  bool finished() const;
  /// Makes an empty unfinished folder; one another job fills at this moment is an Error, and so is too little room.
  void begin();
  /// Where a file is written while the folder is unfinished.
  std::filesystem::path unfinished(const StageFile& file) const;
  /// Makes the folders that ranks see, writes the manifest, and gives the folder its name.
  void finish();
  /// Removes what is not finished; never throws.
  void discard() noexcept;

  const std::filesystem::path& path() const { return final_; }
  /// What a source's argument becomes for a rank.
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
