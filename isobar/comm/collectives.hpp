// Small collectives over point-to-point messages, for agreeing on lists and counters; gradients use schedules instead.
// Results do not depend on timing. All ranks must call them, in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "isobar/comm/comm.hpp"

namespace isobar::comm {

using Bytes = std::vector<std::byte>;

/// Called repeatedly while a rank waits; throws when the wait must end.
using Look = std::function<void()>;

/// Gives all ranks the bytes of `root`, the same number on all, by a binomial tree.
void broadcast(Comm& comm, std::span<std::byte> bytes, int root = 0);

/// Gives all ranks a trivially copyable object of `root`.
template <class T>
void broadcast_object(Comm& comm, T& object, int root = 0) {
  static_assert(std::is_trivially_copyable_v<T>);
  broadcast(comm, std::as_writable_bytes(std::span(&object, 1)), root);
}

/// Gives all ranks the std::vector or std::string of `root`, whatever the length of theirs.
template <class List>
requires requires(List& list) { list.resize(1); }
void broadcast(Comm& comm, List& list, int root = 0) {
  static_assert(std::is_trivially_copyable_v<typename List::value_type>);
  std::uint64_t length = list.size();
  broadcast_object(comm, length, root);
  list.resize(length);
  broadcast(comm, std::as_writable_bytes(std::span(list)), root);
}

/// Gives rank 0 the bytes of all ranks, in rank order, and holds those of only one rank at a time.
void gather(Comm& comm, std::span<const std::byte> mine,
            const std::function<void(int rank, std::span<const std::byte> theirs)>& take);

/// Gives every rank its part of rank 0's `all`, which holds the parts in rank order, all of the same size.
void scatter(Comm& comm, std::span<const std::byte> all, std::span<std::byte> mine);

/// The bytes every rank passed, by rank; lengths may differ. Uses a ring.
std::vector<Bytes> all_gather(Comm& comm, std::span<const std::byte> mine);

/// The bytes some ranks of a group passed, in the order of the list, the same number each; only these ranks call.
std::vector<Bytes> all_gather_among(Comm& comm, std::span<const int> ranks, std::span<const std::byte> mine);

/// The number every rank passed, by rank.
std::vector<std::int64_t> all_gather_number(Comm& comm, std::int64_t mine);

/// The largest of the numbers the ranks passed; NaN counts as larger than all others.
double all_largest(Comm& comm, double mine);

/// Sums every number over all ranks, in place, by recursive doubling; without numbers no message is sent. Calls `look`
/// while it waits.
void sum_over_ranks(Comm& comm, std::span<std::int64_t> numbers, const Look& look = {});

/// Returns when all ranks have called it: a dissemination barrier. Calls `look` while it waits.
void barrier(Comm& comm, const Look& look = {});

/// As barrier(), but gives up after `seconds` and returns false: messages do not arrive.
bool barrier_within(Comm& comm, double seconds);

}  // namespace isobar::comm
