// What a snapshot holds of a strategy's blocks. Where it lies there shows its scope, and whether another strategy may
// go on without it: docs/decisions/0035-state-by-scope.md has the names.
#pragma once

#include "isobar/checkpoint/snapshot.hpp"

namespace isobar::checkpoint {

/// The array of a weight of a block that is equal on all ranks.
std::string shared_name(const exec::StateBlock& block, const std::string& weight);

/// Whether a snapshot has arrays of such a block.
bool holds_shared(const Snapshot& snapshot, const exec::StateBlock& block);
/// How many of `own_numbers` each rank has.
std::size_t own_numbers_in(const exec::StateBlocks& state);

/// Copies what a strategy keeps, but for arrays that are equal on all ranks.
void copy_state(Snapshot& into, const exec::ParamStore& store, const exec::StateBlocks& state);

/// Puts the numbers of all lists that each rank has for itself where a snapshot holds them.
void set_own_lists(Snapshot& into, const exec::StateBlocks& state, std::span<const double> numbers);

/// Throws Error, which names the block, when the snapshot cannot be continued by these blocks on so many ranks: it has
/// one that they do not know and that must not be dropped, or lacks one that is required.
void expect_state(const Snapshot& snapshot, const exec::ParamStore& store, const exec::StateBlocks& state, int ranks);

/// Fills the blocks as rank `rank` of `ranks` goes on with them. The store has its weights already.
void restore_state(const Snapshot& snapshot, const exec::ParamStore& store, const exec::StateBlocks& state, int rank,
                   int ranks);

/// At the start of a new run: blocks that begin with the weights get those of the store.
void begin_state(const exec::ParamStore& store, const exec::StateBlocks& state);

/// The lists that each rank has for itself, one after the other, as rank `rank` of `ranks` goes on with them.
std::vector<double> own_lists_for(const Snapshot& snapshot, const exec::StateBlocks& state, int rank, int ranks);
/// The same for an array, in plain layout.
std::vector<float> own_array_for(const Snapshot& snapshot, const exec::StateBlock& block, const exec::ParamStore& store,
                                 int rank, int ranks);

/// Memory that these blocks take in a snapshot of so many ranks.
std::size_t state_bytes(const exec::ParamStore& store, const exec::StateBlocks& state, int ranks);

}  // namespace isobar::checkpoint
