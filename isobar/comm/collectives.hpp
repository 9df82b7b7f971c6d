// Small collectives over point-to-point messages, for agreeing on lists and counters: not for gradients, which travel
// by schedules. Results do not depend on timing. All ranks must call them, in the same order.
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

/// Called again and again while a rank waits; throws when the wait must end.
using Look = std::function<void()>;

/// Gives all ranks the bytes of `root`, equally many on all: a binomial tree.
void broadcast(Comm& comm, std::span<std::byte> bytes, int root = 0);

/// Gives all ranks an object of `root` that is nothing but its bytes.
template <class T>
void broadcast_object(Comm& comm, T& object, int root = 0) {
  static_assert(std::is_trivially_copyable_v<T>);
  broadcast(comm, std::as_writable_bytes(std::span(&object, 1)), root);
}

/// Gives all ranks the std::vector or std::string of `root`, however long theirs are.
template <class List>
requires requires(List& list) { list.resize(1); }
void broadcast(Comm& comm, List& list, int root = 0) {
  static_assert(std::is_trivially_copyable_v<typename List::value_type>);
  std::uint64_t length = list.size();
  broadcast_object(comm, length, root);
  list.resize(length);
  broadcast(comm, std::as_writable_bytes(std::span(list)), root);
}

/// Gives rank 0 the bytes of all ranks, in the order of the ranks, one after the other: only one is held at a time.
void gather(Comm& comm, std::span<const std::byte> mine,
            const std::function<void(int rank, std::span<const std::byte> theirs)>& take);

/// Gives every rank its part of what rank 0 has for all, one part after the other and equally many bytes for each.
void scatter(Comm& comm, std::span<const std::byte> all, std::span<std::byte> mine);

/// What every rank gave, by rank; lengths may differ: a ring.
std::vector<Bytes> all_gather(Comm& comm, std::span<const std::byte> mine);

/// What some ranks of a group gave, in the order of the list, equally many bytes each; only they call.
std::vector<Bytes> all_gather_among(Comm& comm, std::span<const int> ranks, std::span<const std::byte> mine);

/// The number every rank gave, by rank.
std::vector<std::int64_t> all_gather_number(Comm& comm, std::int64_t mine);

/// The largest of the numbers the ranks gave.
double all_largest(Comm& comm, double mine);

/// Sums every number over all ranks, in place: recursive doubling. No numbers, no message. Looks while it waits.
void sum_over_ranks(Comm& comm, std::span<std::int64_t> numbers, const Look& look = {});

/// Returns when all ranks have called it: a dissemination barrier. Looks while it waits.
void barrier(Comm& comm, const Look& look = {});

/// As barrier(), but gives up after some seconds and returns false: messages do not arrive.
bool barrier_within(Comm& comm, double seconds);

}  // namespace isobar::comm
