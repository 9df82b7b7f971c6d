// The messages between ranks and launcher: each is one line with a word that names it, numbers, and at most one text,
// which comes last. The reader checks every line; a sender of anything else is not one of our ranks and is dropped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace isobar::control {

/// The longest line a launcher reads, and the longest a rank reads, which may hold the numbers of all ranks.
inline constexpr std::size_t longest_report = 4096, longest_notice = 1 << 16;
/// More ranks than this cannot be supervised.
inline constexpr int most_ranks = 8192;

/// What a rank or its shield tells the launcher.
struct Report {
  enum class Kind {
    hello,     ///< text: the token; first on every connection
    beat,      ///< text: what the rank is doing
    progress,  ///< number: a finished step
    folder,    ///< text: where the run's files are
    ready,     ///< epoch: the one for which the rank awaits an order
    alone,     ///< no other rank leaves its groups if this one dies
    fail,      ///< text: why this rank ends the run
    give_up,   ///< text: why the work cannot continue in place
    goodbye,   ///< number: the exit code
    where,     ///< asks for the notes of all ranks
    died       ///< from a shield. signal; number: the exit code; text: what the rank was doing; step: the last finished
  };
  Kind kind = Kind::beat;
  std::uint32_t epoch = 0;
  std::int64_t number = 0;
  std::int64_t step = 0;
  int signal = 0;
  std::string text{};
  // For a hello: who is speaking, and for which launch of this launcher.
  bool shield = false;
  int rank = 0, launch = 0;
  std::int64_t pid = 0;
  std::string host{};
};

/// What the launcher tells a rank or its shield.
struct Notice {
  enum class Kind {
    welcome,   ///< epoch, rank: how many ranks there are
    dead,      ///< epoch, rank: that rank has died, all leave their groups
    gone,      ///< rank: a rank has died without which the others go on as they are
    go,        ///< epoch, members
    over,      ///< the work is done
    relaunch,  ///< epoch, text: why
    failure,   ///< rank, text; rank -1: it follows from an earlier notice of the launcher
    note,      ///< rank, text: part of the answer to `where`
    notes,     ///< the end of that answer
    leave,     ///< a rank that said goodbye may end
    stop,      ///< a forwarded stop signal
    expelled   ///< the rank counts as dead: it ends at once, and its shield makes sure of that
  };
  Kind kind = Kind::over;
  std::uint32_t epoch = 0;
  int rank = 0;
  std::vector<int> members{};
  std::string text{};
};

/// The message as a line, without the line end; text is made one line and cut to fit.
std::string write(const Report& report);
std::string write(const Notice& notice);

/// Throws Error on anything but what write() makes.
Report read_report(std::string_view line);
Notice read_notice(std::string_view line);

}  // namespace isobar::control
