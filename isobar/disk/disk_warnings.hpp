// DiskWarnings: tells the user that files cannot be written: once per outage, however many files it affects and however
// often they are retried, and once when it is over. Writers of files that a run can do without report here.
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

/// May be used from all threads.
class DiskWarnings {
 public:
  /// `tell` receives one line at a time; by default it goes to standard error.
  explicit DiskWarnings(std::function<void(const std::string&)> tell = {});

  /// A file cannot be written at present, and will be retried: the outage lasts until wrote() or given_up().
  void failed(const std::filesystem::path& file, const std::string& cause);
  /// A file was written, after `lost` lines of it were dropped. Without an outage this does nothing.
  void wrote(const std::filesystem::path& file, std::int64_t lost = 0);
  /// A file stays as it is: missing, or without `lost` lines at its end.
  void given_up(const std::filesystem::path& file, const std::string& cause, std::int64_t lost = 0);
  /// At the end of a run: names the incomplete files, if any, and forgets everything.
  void conclude();
  /// Whether to print anything: ranks whose disk another rank watches stay silent.
  void speak(bool loud);

 private:
  void tell(const std::string& line);
  void tell_once(const std::filesystem::path& file, const std::string& cause, const char* then);
  void note_lost(const std::filesystem::path& file, std::int64_t lines);

  std::mutex mutex_;
  std::function<void(const std::string&)> tell_;
  bool loud_ = true;
  std::set<std::filesystem::path> waiting_;  // being retried
  std::set<std::string> told_;               // causes reported in this outage
  std::map<std::filesystem::path, std::int64_t> lost_;
  std::filesystem::path first_;  // first file of this outage
  std::size_t hit_ = 0;          // files affected by this outage
  std::int64_t lost_now_ = 0;    // lines lost in this outage
};

/// The warnings of this process.
DiskWarnings& disk_warnings();

/// Runs `work`; a file that it cannot write is given up. Returns whether it succeeded.
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
