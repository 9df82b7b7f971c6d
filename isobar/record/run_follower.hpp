// RunFollower: replays a run from its growing files, as the events that the run itself sent to its sinks. Every call
// reads only what is new; a run that was resumed or restarted in the meantime is replayed from its first line.
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

  /// `cut`: the run was resumed at an earlier step; `anew`: there is another run now, or none.
  enum class Change { none, more, cut, anew };
  /// Sends new events to the listener. After `cut` and `anew` the next call replays everything from the first line.
  /// Files that do not exist yet are no change.
  Change poll(train::Sink& listener);

  /// When the run last wrote a line, in seconds since 1970; nothing before its first line.
  std::optional<double> last_written() const;
  /// Recipe and description, as read with the last start.
  const RunRecord& facts() const { return facts_; }

 private:
  bool tell_next(train::Sink& listener);
  void tell_start(train::Sink& listener, const nlohmann::json& line);
  void tell_end(train::Sink& listener, const nlohmann::json& figures, const nlohmann::json& times) const;

  std::filesystem::path folder_;
  LineTail metrics_, timing_;
  std::deque<nlohmann::json> figures_, times_;  // lines read but not sent yet: one file may be ahead
  bool damaged_figures_ = false, damaged_times_ = false;
  RunRecord facts_;
  std::int64_t step_in_epoch_ = 0;
};

}  // namespace isobar::record
