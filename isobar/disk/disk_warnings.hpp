// DiskWarnings: tells the user that files cannot be written: once for an outage, however many files it hits and however
// often they are tried, and once when it is over. Whoever writes files of a run that can do without them reports here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "isobar/disk/disk_error.hpp"

namespace isobar::disk {

/// All threads may call.
class DiskWarnings {
 public:
  /// `tell` is given one line; by default it goes to standard error.
  explicit DiskWarnings(std::function<void(const std::string&)> tell = {});

  /// A file cannot be written at present, and will be tried again: the outage lasts until wrote() or given_up().
  void failed(const std::filesystem::path& file, const std::string& cause);
  /// A file was written; `lost` lines of it were dropped before. Without an outage this does nothing.
  void wrote(const std::filesystem::path& file, std::int64_t lost = 0);
  /// A file stays as it is: it is not there, or `lost` lines are missing at its end.
  void given_up(const std::filesystem::path& file, const std::string& cause, std::int64_t lost = 0);
  /// At the end of a run: names the files that are not whole, if there are any, and forgets everything.
  void conclude();
  /// Whether anything is said: ranks that write to the disk another one watches say nothing.
  void speak(bool loud);

 private:
  void tell(const std::string& line);
  void tell_once(const std::filesystem::path& file, const std::string& cause, const char* then);
  void note_lost(const std::filesystem::path& file, std::int64_t lines);

  std::mutex mutex_;
  std::function<void(const std::string&)> tell_;
  bool loud_ = true;
  std::set<std::filesystem::path> waiting_;  // tried again
  std::set<std::string> told_;               // causes, in this outage
  std::map<std::filesystem::path, std::int64_t> lost_;
  std::filesystem::path first_;  // of this outage
  std::size_t hit_ = 0;          // files of this outage
  std::int64_t lost_now_ = 0;    // lines, in this outage
};

/// Those of this process.
DiskWarnings& disk_warnings();

/// Runs `work`; a file that it cannot write is given up. Whether it could.
template <class F>
bool written_or_told(F work, DiskWarnings& warnings = disk_warnings()) {
  try {
    work();
    return true;
  } catch (const DiskError& error) {
    warnings.given_up(error.file(), error.cause());
    return false;
  }
}

}  // namespace isobar::disk
