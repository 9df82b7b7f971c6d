// What ranks have for themselves, or as pieces of one whole, on its way: to the first rank, for a checkpoint that holds
// that of all; from it, when a run is opened; and between the ranks that are left when members have changed.
#pragma once

#include "isobar/checkpoint/snapshot.hpp"
#include "isobar/comm/comm.hpp"

namespace isobar::train {

/// What a rank has for itself in the middle of saving: running statistics, and the lists of its blocks.
struct OwnNumbers {
  std::vector<float> statistics{};
  std::vector<double> lists{};
};

/// Brings what all ranks have to rank 0, into a snapshot that it has taken of itself; the others may pass an empty one.
/// Statistics that are `alike` on all ranks are not sent. All ranks must call.
void gather_state(comm::Comm& comm, const exec::ParamStore& store, const exec::StateBlocks& state,
                  const OwnNumbers& mine, bool alike, checkpoint::Snapshot& into);

/// Gives every rank its part of a checkpoint, which rank 0 has restored for itself, in blocks of all scopes. All ranks
/// must call; only rank 0's snapshot counts.
void spread_state(comm::Comm& comm, const checkpoint::Snapshot& snapshot, const exec::ParamStore& store,
                  const exec::StateBlocks& state);

/// After members have changed, and every rank has restored what it had: pieces are cut as they are now, and what ranks
/// have for themselves is merged as the blocks say, if they were `before` in number. New ranks, whose snapshot came
/// from another, begin as the blocks say. Throws NotInPlace if something is required that a rank which died has taken
/// along. All ranks must call.
void hand_over_state(comm::Comm& comm, const checkpoint::Snapshot& mine, std::size_t before,
                     const exec::ParamStore& store, const exec::StateBlocks& state);

}  // namespace isobar::train
