// The kinds of reducers make_reducer() chooses from, one file each.
#pragma once

#include "isobar/comm/reducer.hpp"

namespace isobar::comm {

/// For a group of one rank: only holds the memory.
std::unique_ptr<Reducer> lone_reducer(Comm& comm, std::size_t floats);

/// For ranks of one node: they add directly from each other's memory, when they wait. All ranks must call.
std::unique_ptr<Reducer> shared_reducer(Comm& comm, std::size_t floats, const ReducerOptions& options);

/// Sums by comm.native_sum(), in wait(). All ranks must call.
std::unique_ptr<Reducer> native_reducer(Comm& comm, std::size_t floats);

/// For a codec whose numbers cannot be added on their way; `exact` makes the sums that travel as they are. All ranks
/// must call.
std::unique_ptr<Reducer> gathered_reducer(Comm& comm, std::unique_ptr<Reducer> exact, const ReducerOptions& options);

/// Whether ranks on so many nodes add in shared memory with these options: the fastest way, and it adds in the order of
/// 'reproducible'.
bool adds_in_shared_memory(const ReducerOptions& options, int nodes);

/// The words that a rank gathers from each, for tensors that are encoded by themselves.
std::size_t words_of(std::span<const Range> parts, const codec::Codec& codec);

/// Expects the range to lie within memory of `floats` floats.
void expect_within(Range range, std::size_t floats);

/// Zeros on their own cache lines.
class AlignedFloats {
 public:
  explicit AlignedFloats(std::size_t floats);
  std::span<float> all() const { return {first_, count_}; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t count_;
  float* first_;
};

}  // namespace isobar::comm
