#include "isobar/parallel/not_finite.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>

#include "isobar/base/loops.hpp"

namespace isobar::parallel {
namespace {

// A number that is not finite has all bits of its exponent set: without its sign it is at least this.
constexpr std::uint32_t infinity_bits = 0x7f80'0000;

bool finite_piece(const float* numbers, std::size_t count) {
  std::uint32_t largest = 0;
#pragma omp simd reduction(max : largest)
  for (std::size_t i = 0; i < count; ++i)
    largest = std::max(largest, std::bit_cast<std::uint32_t>(numbers[i]) & 0x7fff'ffffu);
  return largest < infinity_bits;
}

}  // namespace

bool all_finite(std::span<const float> numbers) {
  std::atomic<bool> good = true;
  in_parts(numbers.size(), [&](std::size_t begin, std::size_t end) {
    if (!finite_piece(numbers.data() + begin, end - begin)) good.store(false, std::memory_order_relaxed);
  });
  return good;
}

std::size_t spoilt_statistics(const Replica& replica, bool in_gradients) {
  std::size_t spoilt = 0;
  for (const ReplicaParameter& parameter : replica.parameters())
    if (!parameter.trained && !all_finite(in_gradients ? parameter.gradient : parameter.weight)) ++spoilt;
  return spoilt;
}

Extent extent_of(std::span<const float> numbers) {
  Extent extent;
  extent.all = numbers.size();
  bool any = false;
  for (const float number : numbers) {
    if (!std::isfinite(number)) {
      ++extent.bad;
      continue;
    }
    const auto value = static_cast<double>(number);
    extent.low = any ? std::min(extent.low, value) : value;
    extent.high = any ? std::max(extent.high, value) : value;
    any = true;
  }
  return extent;
}

std::string Extent::str() const {
  const std::string range = fmt::format("from {:g} to {:g}", low, high);
  if (bad == 0) return range;
  if (bad == all) return fmt::format("all {} not finite", all);
  return fmt::format("{} of {} not finite, the others {}", bad, all, range);
}

void FiniteSearch::begin() {
  message_.clear();
  part_.clear();
  parameter_ = -1;
}

void FiniteSearch::look(const ForwardSummary& summary) {
  if (!on_ || !good()) return;
  if (!std::isfinite(summary.loss)) {
    part_ = "the loss";
    message_ = fmt::format("the loss is {}", summary.loss);
  } else if (summary.bad != 0) {
    part_ = "the running statistics";
    message_ = "running statistics are not finite";
  }
}

void FiniteSearch::look(Replica& replica, std::span<const float> gradients, int first, int last, std::int64_t step) {
  if (!on_ || !good() || first >= last) return;
  const std::size_t begin = replica[first].offset;
  const std::size_t end = replica[last - 1].offset + replica[last - 1].gradient.size();
  const std::span<const float> range = gradients.subspan(begin, end - begin);
  bool finite = true;
  replica.timed(chore_, step, static_cast<double>(range.size_bytes()), [&] { finite = all_finite(range); });
  if (finite) return;
  for (int p = first; p < last; ++p) {
    const Extent extent = extent_of(replica[p].in(gradients));
    if (extent.bad == 0) continue;
    parameter_ = p;
    part_ = fmt::format("the gradient of '{}'", replica[p].name);
    message_ = fmt::format("{}: {}", part_, extent.str());
    return;
  }
}

void FiniteSearch::raise(int updated) const {
  if (!good()) throw NotFinite(message_, part_, parameter_, updated);
}

}  // namespace isobar::parallel
