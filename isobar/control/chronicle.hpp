// Chronicle: what happened to the ranks of a supervised run, in three forms: one line per event for the user, one JSON
// object per event for programs (--log), and a table of deaths at the end. It has no clock: callers pass the times.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace isobar::control {

struct Death {
  int rank = 0;
  std::int64_t pid = 0;
  std::string host{}, note{};
  double time = 0;      ///< when the launcher noticed
  bool frozen = false;  ///< silent for too long, and therefore killed
  bool worked = false;  ///< others had to leave their groups
  int signal = 0, exit_code = 0;
  bool explained = false;    ///< its shield has reported signal or exit code
  std::int64_t before = -1;  ///< the last step that was finished when all were ready to continue; -1: none
  std::int64_t after = -1;   ///< the first step finished after that; -1: none yet
  double seconds = 0;        ///< from the death to that step
  std::string outcome{};     ///< "3 ranks go on", "4 ranks go on, rank 4 takes its place", "relaunch"
  std::string end{};         ///< how the run recovered, for the user; empty until then
  bool announced = false, told = false;

  /// "signal 9", "exit code 1", "silence for 10 s".
  std::string cause(double freeze_seconds) const;
};

class Chronicle {
 public:
  using Say = std::function<void(const std::string& line)>;

  /// `log`: a file for JSON lines; empty: no file.
  Chronicle(Say say, const std::filesystem::path& log, double freeze_seconds);
  ~Chronicle();
  Chronicle(const Chronicle&) = delete;
  Chronicle& operator=(const Chronicle&) = delete;

  void launched(double time, int launch, int ranks, int spares, std::int64_t pid);
  /// Sets the folder for a post-mortem file of each dead rank, once a rank has reported it.
  void folder(const std::filesystem::path& folder) { folder_ = folder; }
  void died(Death death);
  /// The shield of a dead rank reports how it ended, and what it was doing, if known.
  void explained(int rank, int signal, int exit_code, const std::string& note);
  void going(double time, std::uint32_t epoch, const std::vector<int>& members);
  void progress(double time, std::int64_t step);
  void failed(double time, int rank, const std::string& message);
  void relaunching(double time, const std::string& why);
  /// Reports anything else worth a line.
  void say(double time, const std::string& line);
  /// Reports deaths from which the run has not recovered for a long time.
  void tick(double time);
  void ended(double time, int exit_code);

  const std::vector<Death>& deaths() const { return deaths_; }
  std::int64_t last_step() const { return last_step_; }
  /// The table of deaths; empty without any.
  std::string table() const;

 private:
  void announce(Death& death, const std::string& end);
  void settle(double time, bool at_last);
  void record(double time, const std::string& event, const std::string& rest);
  void write_post_mortem(const Death& death) const;

  Say say_;
  std::FILE* log_ = nullptr;
  double freeze_seconds_;
  std::filesystem::path folder_;
  std::vector<Death> deaths_;
  std::size_t open_ = 0;       // deaths from here on have no outcome yet
  std::size_t of_launch_ = 0;  // deaths from here on belong to the present launch
  std::vector<int> members_;
  bool going_ = false;
  std::int64_t last_step_ = -1;
};

}  // namespace isobar::control
