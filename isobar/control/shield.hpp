// The shield: the first process of a supervised rank. It forks before anything else; the child becomes the rank, and
// the parent watches over it. It turns death by a signal into an exit code, because MPICH's launcher would otherwise
// end all ranks of a host; it kills a frozen rank when the launcher says so, and any rank whose launcher is lost.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace isobar::control {

/// What a rank leaves for its shield, in shared memory: read when the rank is dead.
struct LastWords {
  static constexpr std::size_t longest = 1000;
  std::atomic<std::int64_t> step{-1};  ///< the last finished step
  char note[longest] = {};
};

/// Forks if a launcher supervises this process and it has no shield yet. Returns in the rank; the shield never returns.
/// `left_behind`: a shell pattern for the files that a rank leaves when it dies; the shield then removes them.
void raise_shield(int rank, const std::string& left_behind = "");

/// Where this rank writes its last words; null without a shield.
LastWords* last_words();

/// Which launch of its launcher this process belongs to, counted from 0.
int launch_number();
inline constexpr const char* launch_variable = "ISOBAR_LAUNCH";

/// How long a rank may continue without its launcher, in seconds: its shield then ends it.
inline constexpr double longest_alone = 15;

}  // namespace isobar::control
