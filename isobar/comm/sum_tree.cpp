#include "isobar/comm/sum_tree.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace isobar::comm {
namespace {

constexpr std::size_t chunk = 2048;  // 8 kB: partial sums stay in the first-level cache
constexpr int depth_limit = 20;      // enough for a million ranks on one node
constexpr std::size_t line = 64 / sizeof(float);
using Line [[gnu::vector_size(64)]] = float;

using Scratch = std::array<std::array<float, chunk>, depth_limit>;

// Two parts are read once and both results written at once: the lines are in the cache, so nothing is fetched twice.
// Lines are prefetched well ahead, for writing: the hardware prefetcher requests them for reading first, and stops at
// the end of a page.
void add_pair(const float* a, const float* b, float* x, float* y, std::size_t count) {
  constexpr std::size_t ahead = 64 * line;
  std::size_t i = 0;
  for (; i + line <= count; i += line) {
    __builtin_prefetch(a + i + ahead, 1);
    __builtin_prefetch(b + i + ahead, 1);
    Line left, right;
    std::memcpy(&left, a + i, sizeof left);
    std::memcpy(&right, b + i, sizeof right);
    left += right;
    std::memcpy(x + i, &left, sizeof left);
    std::memcpy(y + i, &left, sizeof left);
  }
  for (; i < count; ++i) x[i] = y[i] = a[i] + b[i];
}

void add_into(const float* a, const float* b, float* sum, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
}

// Sums numbers [begin, begin + count) of the parts and returns where: in the part itself if there is only one.
const float* sum_into(Scratch& scratch, int depth, std::span<const float* const> parts, std::size_t begin,
                      std::size_t count) {
  if (parts.size() == 1) return parts[0] + begin;
  const std::size_t half = std::bit_ceil(parts.size()) / 2;
  float* target = scratch[static_cast<std::size_t>(depth)].data();
  const float* left = sum_into(scratch, depth, parts.first(half), begin, count);
  const float* right = sum_into(scratch, depth + 1, parts.subspan(half), begin, count);
  add_into(left, right, target, count);
  return target;
}

}  // namespace

void sum_tree(std::span<const float* const> parts, std::span<float* const> results, std::size_t count) {
  if (parts.size() == 2 && results.size() == 2) return add_pair(parts[0], parts[1], results[0], results[1], count);
  if (parts.size() == 2 && results.size() == 1) return add_into(parts[0], parts[1], results[0], count);
  Scratch scratch;
  for (std::size_t begin = 0; begin < count; begin += chunk) {
    const std::size_t length = std::min(chunk, count - begin);
    const float* sum = sum_into(scratch, 0, parts, begin, length);
    for (float* result : results)
      if (result + begin != sum) std::memcpy(result + begin, sum, length * sizeof(float));
  }
}

Range slice_of(Range range, int slices, int index) {
  const auto parts = static_cast<std::size_t>(slices);
  const auto cut = [&](std::size_t at) {
    if (at == 0) return range.begin;
    if (at == parts) return range.end();
    const std::size_t even = range.begin + range.count / parts * at + range.count % parts * at / parts;
    return std::clamp((even + line / 2) / line * line, range.begin, range.end());
  };
  const std::size_t begin = cut(static_cast<std::size_t>(index)), end = cut(static_cast<std::size_t>(index) + 1);
  return {begin, end - begin};
}

}  // namespace isobar::comm
