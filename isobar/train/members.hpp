// MembersChange: ranks of a run have died, and the others went on with its next step. Nothing that was finished is lost
// by it; it is told in the progress, run.json and the report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace isobar::train {

/// One change; ranks by their numbers in the world.
struct MembersChange {
  std::int64_t step = 0;       ///< the last that was finished before
  std::vector<int> left{};     ///< ranks that died, or stand by because the rest does not need them
  std::vector<int> joined{};   ///< spares that took a place
  std::vector<int> members{};  ///< who went on
  double seconds = 0;          ///< from the notice of it until all were ready for the next step

  /// "rank 2 left, rank 4 takes its place; 4 ranks go on after step 120".
  std::string str() const;
};

/// What became of a group when another follows it.
MembersChange change_of(const std::vector<int>& before, const std::vector<int>& after);

/// As one line of JSON, for files and for other ranks.
std::string to_json(const std::vector<MembersChange>& changes);
/// What to_json() wrote; whatever is not of that form is left out.
std::vector<MembersChange> changes_in(const std::string& json);

}  // namespace isobar::train
