// What ranks tell each other between steps: counts, wishes to stop, results, a model that was read by one of them.
// Small and seldom, or once; gradients travel by a strategy. All ranks must call these functions, in the same order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "isobar/comm/collectives.hpp"
#include "isobar/train/waiting.hpp"

namespace isobar::train {

/// Sums every number over all ranks, in place: log2(ranks) messages. Looks while it waits.
void sum_over_ranks(comm::Comm& comm, std::span<std::int64_t> numbers, const Look& look = {});

/// Returns when all ranks have called it. One of them may have much to do; the others wait as long as it answers.
void meet(comm::Comm& comm, const WaitLimits& limits, const std::string& what);

/// Gives rank 0 the bytes of all ranks, in the order of the ranks, one after the other: only one is held at a time.
void collect(comm::Comm& comm, std::span<const std::byte> mine,
             const std::function<void(int rank, std::span<const std::byte> theirs)>& take);

/// Gives all ranks the numbers of rank 0, which must be as many on all.
void share_numbers(comm::Comm& comm, std::span<float> numbers);

/// Gives all ranks an object of rank 0 that is nothing but its bytes.
template <class T>
void share_object(comm::Comm& comm, T& object) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto bytes = std::as_writable_bytes(std::span(&object, 1));
  comm::Bytes copy(bytes.begin(), bytes.end());
  comm::broadcast(comm, copy);
  std::ranges::copy(copy, bytes.begin());
}

/// Gives all ranks a text of rank 0.
void share_text(comm::Comm& comm, std::string& text);

/// Something that must be the same on all ranks: what it is, and its value as text.
struct Fact {
  std::string name, value;
};

/// Compares all facts with those of rank 0; the first that differs is an Error naming both values.
void expect_same(comm::Comm& comm, std::span<const Fact> facts);

}  // namespace isobar::train
