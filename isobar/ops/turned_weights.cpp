#include "isobar/ops/turned_weights.hpp"

#include <algorithm>

#include "isobar/ops/axis_offsets.hpp"

namespace isobar::ops {

TurnedWeights::TurnedWeights(const Layout& stored, const Layout& turned, const Extents& first, const Extents& step)
    : outputs_(axis_offsets(stored, 0)),
      inputs_(axis_offsets(stored, 1)),
      to_inputs_(axis_offsets(turned, 1)),
      to_outputs_(axis_offsets(turned, 0)) {
  std::vector<std::vector<std::int64_t>> from, to;
  for (std::size_t a = 0; a < first.size(); ++a) {
    const int axis = static_cast<int>(a) + 2;
    const std::vector<std::int64_t> offsets = axis_offsets(stored, axis);
    to.push_back(axis_offsets(turned, axis));
    const auto count = static_cast<std::int64_t>(to.back().size());
    auto& chosen = from.emplace_back();
    for (std::int64_t t = 0; t < count; ++t)
      chosen.push_back(offsets[static_cast<std::size_t>(first[a] + step[a] * (count - 1 - t))]);
  }
  taps_ = all_sums(from);
  to_taps_ = all_sums(to);
  const auto copied = static_cast<std::int64_t>(outputs_.size() * inputs_.size() * taps_.size());
  if (padded_count(turned) != copied) padding_ = padded_count(turned);
}

void TurnedWeights::copy(const float* from, float* to) const {
  constexpr std::int64_t tile = 32;
  std::fill_n(to, padding_, 0.0f);
  const auto o_count = static_cast<std::int64_t>(outputs_.size()), i_count = static_cast<std::int64_t>(inputs_.size());
  const auto tap_count = static_cast<std::int64_t>(taps_.size());
  const std::int64_t o_tiles = (o_count + tile - 1) / tile;
#pragma omp parallel for collapse(2) schedule(static)
  for (std::int64_t ot = 0; ot < o_tiles; ++ot) {
    for (std::int64_t t = 0; t < tap_count; ++t) {
      const std::int64_t o_end = std::min(o_count, (ot + 1) * tile);
      for (std::int64_t i_begin = 0; i_begin < i_count; i_begin += tile) {
        const std::int64_t i_end = std::min(i_count, i_begin + tile);
        for (std::int64_t o = ot * tile; o < o_end; ++o) {
          const float* const source = from + taps_[t] + outputs_[o];
          float* const target = to + to_taps_[t] + to_inputs_[o];
          for (std::int64_t i = i_begin; i < i_end; ++i) target[to_outputs_[i]] = source[inputs_[i]];
        }
      }
    }
  }
}

}  // namespace isobar::ops
