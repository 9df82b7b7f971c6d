// RunFollower: a run told from its files while they grow, in the events the run itself told its sinks. Every call reads
// only what is new; a run that was resumed or begun anew meanwhile is told again from its first line.
#pragma once

#include <deque>
#include <filesystem>
#include <optional>

#include <nlohmann/json.hpp>

#include "isobar/record/line_tail.hpp"
#include "isobar/record/run_record.hpp"
#include "isobar/train/events.hpp"

namespace isobar::record {

class RunFollower {
 public:
  explicit RunFollower(std::filesystem::path folder);

  /// `cut`: the run was resumed at an earlier step; `anew`: another run is there, or none.
  enum class Change { none, more, cut, anew };
  /// Tells the listener what is new. After `cut` and `anew` the next call tells everything from the first line on.
  /// Files that are not there yet are no change.
  Change poll(train::Sink& listener);

  /// When the run last wrote a line, in seconds since 1970; nothing before it has written any.
  std::optional<double> last_written() const;
  /// Recipe and description, as read with the last start.
  const RunRecord& facts() const { return facts_; }

 private:
  bool tell_next(train::Sink& listener);
  void tell_start(train::Sink& listener, const nlohmann::json& line);
  void tell_end(train::Sink& listener, const nlohmann::json& figures, const nlohmann::json& times) const;

  std::filesystem::path folder_;
  LineTail metrics_, timing_;
  std::deque<nlohmann::json> figures_, times_;  // lines that were read and not told: one file may be ahead
  bool damaged_figures_ = false, damaged_times_ = false;
  RunRecord facts_;
  std::int64_t step_in_epoch_ = 0;
};

}  // namespace isobar::record
