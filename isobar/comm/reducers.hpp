// The kinds of reducers make_reducer() chooses from, one file each.
#pragma once

#include "isobar/comm/reducer.hpp"

namespace isobar::comm {

/// For a group of one rank, which has nothing to sum.
std::unique_ptr<Reducer> lone_reducer(Comm& comm, GradientMemory& memory);

/// For ranks of one node: they add directly from each other's memory, when they wait. All ranks must call.
std::unique_ptr<Reducer> shared_reducer(Comm& comm, GradientMemory& memory, const ReducerOptions& options);

/// Sums by comm.native_sum(), in wait(). All ranks must call.
std::unique_ptr<Reducer> native_reducer(Comm& comm, GradientMemory& memory);

/// For a codec whose numbers cannot be added on their way; `exact` makes the sums that travel as they are. All ranks
/// must call.
std::unique_ptr<Reducer> gathered_reducer(Comm& comm, std::unique_ptr<Reducer> exact, const ReducerOptions& options);

/// Whether ranks on so many nodes add in shared memory with these options: the fastest way, and it adds in the order of
/// 'reproducible'.
bool adds_in_shared_memory(const ReducerOptions& options, int nodes);

/// Where the tensors of a sum lie: the whole range, if it does not say.
std::span<const Range> parts_of(const SumRequest& sum);

/// The bytes that a rank sends at most of a sum whose numbers are gathered, tensor by tensor; a multiple of 4.
std::size_t gathered_bytes(const SumRequest& sum, const codec::Codec& codec);

/// Expects the range to lie within memory of `floats` floats.
void expect_within(Range range, std::size_t floats);

/// How many nodes the ranks of a group are on.
int nodes_of(const Group& group);

}  // namespace isobar::comm
