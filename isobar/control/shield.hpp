// The shield: the first process of a supervised rank. It forks before anything else; the child becomes the rank, and
// the parent watches over it: death by a signal becomes an exit code, because MPICH's launcher otherwise ends all ranks
// of a host; a frozen rank is killed when the launcher says so; and no rank outlives a launcher that is gone for good.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace isobar::control {

/// What a rank leaves for its shield, in memory both see: read when the rank is dead.
struct LastWords {
  static constexpr int longest = 1000;
  std::atomic<std::int64_t> step{-1};  ///< the last finished one
  char note[longest] = {};
};

/// Forks if a launcher supervises this process and it has no shield yet. Returns in the rank; the shield never returns.
/// `left_behind`: files that a rank leaves when it dies, as a pattern of the shell; the shield removes them then.
void raise_shield(int rank, const std::string& left_behind = "");

/// Where this rank leaves its last words; null without a shield.
LastWords* last_words();

/// Which launch of its launcher this process belongs to, counted from 0.
int launch_number();
inline constexpr const char* launch_variable = "ISOBAR_LAUNCH";

/// The longest a rank goes on without its launcher, in seconds: its shield then ends it.
inline constexpr double longest_alone = 15;

}  // namespace isobar::control
