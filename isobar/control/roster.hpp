// Roster: what the launcher knows of every rank and what it decides, as a pure state machine: events in, notices out;
// no sockets and no clock. A death starts a new epoch only if some rank worked with the dead one; all ranks left then
// leave their groups and report ready, and the next group starts: survivors in their old order, then spares.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "isobar/control/words.hpp"

namespace isobar::control {

/// One notice for some ranks.
struct Action {
  Notice notice;
  std::vector<int> to;
};
using Actions = std::vector<Action>;

class Roster {
 public:
  struct Setup {
    int ranks = 1, spares = 0;
    int least = 1;  ///< with fewer ranks left the work does not continue in place
  };
  enum class Phase {
    starting,     ///< not all ranks have been ready yet
    working,      ///< a group is at work
    mustering,    ///< a death was announced, and not all ranks left are ready
    failing,      ///< a rank has failed: all end
    relaunching,  ///< all end, to be restarted
    over          ///< the work is done
  };
  /// busy: in a group of an earlier epoch, or not yet ready for the first time.
  enum class State { absent, busy, ready, working, standing_by, finished, dead };

  explicit Roster(Setup setup);

  /// A rank has said hello; empty if it did so before.
  std::optional<Actions> join(int rank);
  Actions ready(int rank, std::uint32_t epoch);
  /// The others go on as they are if this rank dies while it works.
  void alone(int rank) { at(rank).alone = true; }
  bool is_alone(int rank) const { return ranks_[rank].alone; }
  Actions die(int rank);
  Actions fail(int rank, const std::string& message);
  Actions give_up(int rank, const std::string& why);
  Actions goodbye(int rank, int exit_code);
  /// The launcher itself wants all ranks restarted, for example because some do not connect or do not get ready.
  Actions relaunch(const std::string& why);

  Phase phase() const { return phase_; }
  std::uint32_t epoch() const { return epoch_; }
  State state(int rank) const { return ranks_[rank].state; }
  int size() const { return std::ssize(ranks_); }
  /// The ranks in this state.
  std::vector<int> in(State state) const;
  /// The group of the latest `go`.
  const std::vector<int>& members() const { return members_; }
  /// Why all ranks are restarted.
  const std::string& reason() const { return reason_; }
  const std::optional<std::pair<int, std::string>>& failure() const { return failure_; }
  /// Whether all living ranks have said goodbye.
  bool ended() const;
  /// The exit code of the run: that of the rank that failed, or of the first rank of the last group.
  int exit_code() const { return exit_code_; }

 private:
  struct Rank {
    State state = State::absent;
    bool worked = false, alone = false;
  };

  Rank& at(int rank) { return ranks_[rank]; }
  std::vector<int> present(bool with_finished) const;
  bool running() const;
  void move_epoch();
  void finish_work(Actions& actions);
  void go_if_all_ready(Actions& actions);
  void begin_relaunch(Actions& actions, const std::string& why);

  Setup setup_;
  std::vector<Rank> ranks_;
  Phase phase_ = Phase::starting;
  std::uint32_t epoch_ = 1;
  std::vector<int> members_;
  std::optional<std::pair<int, std::string>> failure_;
  std::string reason_;
  int exit_code_ = 0;
};

}  // namespace isobar::control
