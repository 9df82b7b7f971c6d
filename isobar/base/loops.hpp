// Loops that compute: parts of a range in parallel, and sums in a fixed order. Parts have a fixed length, so that no
// result depends on the number of threads. The code for a part is compiled for every level of instructions.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "isobar/base/instructions.hpp"

namespace isobar {

/// Elements that a thread takes at a time, and the length of a partial sum; their data stay in the second-level cache.
inline constexpr std::int64_t loop_part = 16384;

/// The index type of a range.
template <class T>
concept LoopIndex = std::same_as<T, std::int64_t> || std::same_as<T, std::size_t>;

/// What is called for one part, [begin, end).
template <class Result, LoopIndex Index>
using LoopPart = std::type_identity_t<Dispatched<Result(Index begin, Index end)>>;

/// Calls part(begin, end) for consecutive parts of [0, count), in parallel; `part` must not throw. The calling thread
/// does a single part itself.
template <LoopIndex Index>
void in_parts(Index count, LoopPart<void, Index> part, std::type_identity_t<Index> length = loop_part);

/// The sum of part(begin, end) over consecutive parts of [0, count); bitwise the same for any number of threads.
template <class Sum = double, LoopIndex Index>
Sum ordered_sum(Index count, LoopPart<Sum, Index> part, std::type_identity_t<Index> length = loop_part) {
  std::vector<Sum> sums(static_cast<std::size_t>((count + length - 1) / length));
  const auto keep = [&](Index begin, Index end) { sums[static_cast<std::size_t>(begin / length)] = part(begin, end); };
  in_parts(count, keep, length);
  Sum total{};
  for (const Sum& sum : sums) total += sum;
  return total;
}

}  // namespace isobar
