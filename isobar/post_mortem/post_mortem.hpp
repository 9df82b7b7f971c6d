// Post-mortem files: what is known of a rank that failed, as text for people, in RUN/post_mortem/rank<r>.txt. Reports
// are appended: the rank writes its own (crash.hpp), and a process that watched it may add what it saw.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace isobar::post_mortem {

/// RUN/post_mortem/rank3.txt; `rank` is the number in the world of all ranks that were started.
std::filesystem::path post_mortem_file(const std::filesystem::path& run_folder, int rank);

struct PostMortem {
  int rank = 0;
  long process = 0;                  ///< 0: not known
  std::string host{};                ///< empty: this one
  std::string cause{};               ///< "died of signal 9 (Killed)", "[message]": one line
  std::string told_by{};             ///< "the rank itself", "the launcher"
  std::vector<std::string> sums{};   ///< under way over ranks
  std::vector<std::string> notes{};  ///< what it did last, the oldest first
};

/// The text of a report, dated now.
std::string post_mortem_text(const PostMortem& report);

/// What this process knows about itself: its flight recorder, host and process number.
PostMortem own_post_mortem(int rank, std::string cause);

/// Appends a report, creating the folder if need be; false if that fails.
bool append_post_mortem(const std::filesystem::path& run_folder, const PostMortem& report);

}  // namespace isobar::post_mortem
