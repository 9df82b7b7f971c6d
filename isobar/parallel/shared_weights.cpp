#include "isobar/parallel/shared_weights.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include "isobar/base/loops.hpp"

namespace isobar::parallel {
namespace {

using Atomic = std::atomic_ref<float>;
static_assert(Atomic::is_always_lock_free);
constexpr auto relaxed = std::memory_order_relaxed;

bool same(float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }

}  // namespace

SharedWeights::SharedWeights(comm::Comm& node, std::size_t numbers)
    : in_part_(std::max<std::size_t>(1, (numbers + node.size() - 1) / node.size())) {
  memory_ = node.share(in_part_ * sizeof(float));
}

template <class Work>
void SharedWeights::each_piece(std::size_t first, std::size_t count, Work work) const {
  for (std::size_t done = 0; done < count;) {
    const std::size_t at = first + done, in = at % in_part_, here = std::min(count - done, in_part_ - in);
    float* const part = reinterpret_cast<float*>(memory_->part(static_cast<int>(at / in_part_)).data());
    in_parts(here, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) work(done + i, part[in + i]);
    });
    done += here;
  }
}

void SharedWeights::read(std::size_t first, std::span<float> to) const {
  each_piece(first, to.size(), [&](std::size_t i, float& number) { to[i] = Atomic(number).load(relaxed); });
}

void SharedWeights::write(std::size_t first, std::span<const float> from) {
  each_piece(first, from.size(), [&](std::size_t i, float& number) { Atomic(number).store(from[i], relaxed); });
}

void SharedWeights::change(std::size_t first, std::span<const float> was, std::span<const float> is) {
  each_piece(first, is.size(), [&](std::size_t i, float& number) {
    float before = was[i];
    if (same(before, is[i]) || Atomic(number).compare_exchange_strong(before, is[i], relaxed)) return;
    Atomic(number).fetch_add(is[i] - was[i], relaxed);
  });
}

}  // namespace isobar::parallel
