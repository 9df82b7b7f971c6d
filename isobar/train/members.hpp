// MembersChange: ranks of a run have died, and the others continued with its next step. Nothing that was finished is
// lost; the change is shown in the progress, run.json and the report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace isobar::train {

/// One change; ranks by their numbers in the world.
struct MembersChange {
  std::int64_t step = 0;       ///< the last one finished before
  std::vector<int> left{};     ///< ranks that died, or stand by because they are not needed
  std::vector<int> joined{};   ///< spares that took a place
  std::vector<int> members{};  ///< ranks that continued
  double seconds = 0;          ///< from noticing it until all were ready for the next step

  /// "rank 2 left, rank 4 takes its place; 4 ranks go on after step 120".
  std::string str() const;
};

/// The change from one group to the next.
MembersChange change_of(const std::vector<int>& before, const std::vector<int>& after);

/// As one line of JSON, for files and for other ranks.
std::string to_json(const std::vector<MembersChange>& changes);
/// Reads what to_json() wrote; leaves out anything of another form.
std::vector<MembersChange> changes_in(const std::string& json);

}  // namespace isobar::train
