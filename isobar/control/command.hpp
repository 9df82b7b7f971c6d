// Command: the process that starts the ranks, mpiexec or srun, in its own process group: Ctrl-C in a terminal must
// reach the supervisor, which lets ranks end normally, and not a launcher that kills them.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace isobar::control {

class Command {
 public:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  /// Starts the command with these variables set and with default signal handling.
  Command(const std::vector<std::string>& words, const Environment& environment);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  pid_t pid() const { return pid_; }
  /// Its exit code, or 128 plus the signal, once it has ended; does not wait.
  std::optional<int> ended();
  /// Sends a signal to its whole process group.
  void signal(int number) const;

 private:
  pid_t pid_ = -1;
  std::optional<int> code_;
};

}  // namespace isobar::control
