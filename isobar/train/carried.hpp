// Carried: what a rank takes with it from one group of ranks to the next, when others have died: the state after the
// last step it finished, and what is needed to tell the rest of the run as if nothing had happened. Ranks differ by one
// step at most; the state of one that is ahead goes to those that are behind or new.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "isobar/checkpoint/snapshot.hpp"
#include "isobar/comm/comm.hpp"
#include "isobar/train/recent.hpp"

namespace isobar::train {

/// The run cannot go on with the ranks that are left; the message says why. All are started anew then.
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
  std::int64_t first_step = 0;                      ///< the run stood at when it was opened
  double seconds = 0, step_seconds = 0;             ///< since then, and of these in steps
  std::int64_t skipped = 0;                         ///< bad samples since then, on all ranks
  std::vector<int> members{};                       ///< of the last group that had a state
  std::vector<MembersChange> changes{};             ///< since the first start
  double noticed = 0;                               ///< when the last change was noticed, on now_seconds()
  std::function<void(std::int64_t step)> finished;  ///< told of every step this rank has finished; may be empty
};

/// What the ranks of a group have between them.
struct Standing {
  int ahead = -1;             ///< the first rank that has the newest state; -1: nobody has any
  std::vector<int> behind{};  ///< ranks that have an older one, or none
  std::int64_t batch = 0;     ///< as in Carried, if anybody knows it
  bool stopping = false;      ///< somebody had agreed to stop
};

/// Compares positions; a small message. All ranks must call.
Standing compare(comm::Comm& comm, const Carried& mine);

/// Gives everything that is carried to those that lack it, where anybody does; all have the newest state afterwards.
/// All ranks must call, when somebody has a state.
void share_state(comm::Comm& comm, const Standing& standing, Carried& mine);

}  // namespace isobar::train
