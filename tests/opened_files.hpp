// How often the files in a folder are opened, by whatever library, as the kernel tells it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <sys/inotify.h>
#include <unistd.h>
#include <vector>

#include <climits>
#include <gtest/gtest.h>

namespace isobar::tests {

class OpenedFiles {
 public:
  /// Counts from now on. Reading and closing is told too: the kernel would make one event of two openings in a row.
  explicit OpenedFiles(const std::filesystem::path& folder) : events_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    const int watch = inotify_add_watch(events_, folder.c_str(), IN_OPEN | IN_ACCESS | IN_CLOSE);
    EXPECT_GE(watch, 0) << folder;
  }
  OpenedFiles(const OpenedFiles&) = delete;
  ~OpenedFiles() { ::close(events_); }

  /// By name, since the last call; folders are left out.
  std::map<std::string, int> take() {
    std::map<std::string, int> counts;
    alignas(inotify_event) char buffer[64 * (sizeof(inotify_event) + NAME_MAX + 1)];
    for (ssize_t got; (got = ::read(events_, buffer, sizeof(buffer))) > 0;)
      for (ssize_t at = 0; at < got;) {
        const auto* const event = reinterpret_cast<const inotify_event*>(buffer + at);
        EXPECT_FALSE(event->mask & IN_Q_OVERFLOW);
        if ((event->mask & IN_OPEN) && !(event->mask & IN_ISDIR) && event->len > 0) ++counts[event->name];
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      }
    return counts;
  }

 private:
  int events_;
};

}  // namespace isobar::tests
