// Carried: what a rank takes along from one group of ranks to the next when others have died: the state after the last
// step it finished, and what is needed to report the rest of the run as if nothing had happened. Ranks differ by at
// most one step; the state of a rank that is ahead goes to those that are behind or new.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "isobar/checkpoint/snapshot.hpp"
#include "isobar/comm/comm.hpp"
#include "isobar/train/recent.hpp"

namespace isobar::train {

/// The run cannot continue with the ranks that are left; the message says why. All are then restarted.
class NotInPlace : public comm::Aborted {
 public:
  using Aborted::Aborted;
};

struct Carried {
  bool has_state = false;
  checkpoint::Snapshot state{};                     ///< of this rank; empty while a trainer has it in its store
  Recent recent{};                                  ///< steps and epochs
  std::int64_t batch = 0;                           ///< samples of a step since the first start; 0: not known
  bool stopping = false;                            ///< the ranks had agreed to stop
  std::int64_t first_step = 0;                      ///< where the run stood when it was opened
  double seconds = 0, step_seconds = 0;             ///< since then, and the part spent in steps
  std::int64_t skipped = 0;                         ///< bad samples since then, on all ranks
  std::vector<int> members{};                       ///< of the last group that had a state
  std::vector<MembersChange> changes{};             ///< since the first start
  double noticed = 0;                               ///< when the last change was noticed, on now_seconds()
  std::function<void(std::int64_t step)> finished;  ///< called for every step this rank has finished; may be empty
};

/// What the ranks of a group have between them.
struct Standing {
  int ahead = -1;             ///< the first rank that has the newest state; -1: no rank has a state
  std::vector<int> behind{};  ///< ranks that have an older state, or none
  std::int64_t batch = 0;     ///< as in Carried, if any rank knows it
  bool stopping = false;      ///< some rank had agreed to stop
};

/// Compares the positions of all ranks, with small messages. All ranks must call.
Standing compare(comm::Comm& comm, const Carried& mine);

/// Sends everything carried to ranks that lack it, if any; afterwards all have the newest state. All ranks must call,
/// if some rank has a state.
void share_state(comm::Comm& comm, const Standing& standing, Carried& mine);

}  // namespace isobar::train
