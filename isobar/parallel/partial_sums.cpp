#include "isobar/parallel/partial_sums.hpp"

#include <bit>
#include <cstring>

#include "isobar/base/error.hpp"
#include "isobar/base/loops.hpp"

namespace isobar::parallel {

void PartialSums::add(std::size_t item, bool last, std::span<float> part, std::size_t offset) {
  // Item i closes as many pairs as its number ends with ones; the running sum is a single level for ever.
  const bool balanced = order_ == Order::balanced;
  const std::size_t levels = balanced ? static_cast<std::size_t>(std::countr_one(item)) : std::size_t{item > 0};
  expects(!balanced || !last || std::has_single_bit(item + 1), "a power of two of items");
  const std::size_t keep_in = balanced ? levels : 0;
  if (!last)
    while (kept_.size() <= keep_in) kept_.emplace_back(numbers_);
  in_parts(part.size(), [&](std::size_t begin, std::size_t end) {
    float* const to = part.data();
    for (std::size_t level = 0; level < levels; ++level) {
      const float* const from = kept_[level].data() + offset;
#pragma omp simd
      for (std::size_t i = begin; i < end; ++i) to[i] += from[i];
    }
    if (!last) std::memcpy(kept_[keep_in].data() + offset + begin, to + begin, (end - begin) * sizeof(float));
  });
}

void copy_to(std::span<float> a, std::span<const float> b) {
  in_parts(a.size(), [=](std::size_t begin, std::size_t end) {
    std::memcpy(a.data() + begin, b.data() + begin, (end - begin) * sizeof(float));
  });
}

}  // namespace isobar::parallel
