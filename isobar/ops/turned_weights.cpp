#include "isobar/ops/turned_weights.hpp"

#include <algorithm>
#include <utility>

#include "isobar/ops/axis_offsets.hpp"

namespace isobar::ops {
namespace {

constexpr int lanes = 16;
using Vector = float __attribute__((vector_size(lanes * sizeof(float)), aligned(4), may_alias));
using Lanes = std::make_integer_sequence<int, lanes>;

// Exchanges, among rows `distance` apart, the quarters that a transposed matrix has the other way round.
template <int distance, int... lane>
inline void exchange(Vector (&rows)[lanes], std::integer_sequence<int, lane...>) {
#pragma GCC unroll 16
  for (int r = 0; r < lanes; ++r) {
    if (r & distance) continue;
    const Vector a = rows[r], b = rows[r + distance];
    rows[r] = __builtin_shufflevector(a, b, (lane & distance ? lanes + lane - distance : lane)...);
    rows[r + distance] = __builtin_shufflevector(a, b, (lane & distance ? lanes + lane : lane + distance)...);
  }
}

// to[to_rows[j]][i] = from[from_rows[i]][j] for 16 i and 16 j, rows being where 16 numbers lie side by side.
inline void turn_square(const float* from, const std::int64_t* from_rows, float* to, const std::int64_t* to_rows) {
  Vector rows[lanes];
#pragma GCC unroll 16
  for (int i = 0; i < lanes; ++i) rows[i] = *reinterpret_cast<const Vector*>(from + from_rows[i]);
  exchange<8>(rows, Lanes());
  exchange<4>(rows, Lanes());
  exchange<2>(rows, Lanes());
  exchange<1>(rows, Lanes());
#pragma GCC unroll 16
  for (int j = 0; j < lanes; ++j) *reinterpret_cast<Vector*>(to + to_rows[j]) = rows[j];
}

// Whether every 16 offsets, and the last ones, follow each other.
bool in_vectors(const std::vector<std::int64_t>& offsets) {
  for (std::size_t i = 0; i < offsets.size(); ++i)
    if (offsets[i] != offsets[i / lanes * lanes] + static_cast<std::int64_t>(i % lanes)) return false;
  return true;
}

}  // namespace

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
  by_squares_ = in_vectors(outputs_) && in_vectors(to_outputs_);
}

void TurnedWeights::copy(const float* from, float* to) const {
  constexpr std::int64_t tile = 2 * lanes;
  std::fill_n(to, padding_, 0.0f);
  const auto o_count = static_cast<std::int64_t>(outputs_.size()), i_count = static_cast<std::int64_t>(inputs_.size());
  const auto tap_count = static_cast<std::int64_t>(taps_.size());
  const std::int64_t o_tiles = (o_count + tile - 1) / tile;
#pragma omp parallel for collapse(2) schedule(static)
  for (std::int64_t ot = 0; ot < o_tiles; ++ot)
    for (std::int64_t t = 0; t < tap_count; ++t)
      for (std::int64_t i = 0; i < i_count; i += lanes)
        for (std::int64_t o = ot * tile; o < std::min(o_count, (ot + 1) * tile); o += lanes)
          if (by_squares_ && i + lanes <= i_count && o + lanes <= o_count)
            turn_square(from + taps_[t] + outputs_[o], inputs_.data() + i, to + to_taps_[t] + to_outputs_[i],
                        to_inputs_.data() + o);
          else copy_part(from + taps_[t], to + to_taps_[t], o, i);
}

// One by one, up to 16 outputs and inputs.
void TurnedWeights::copy_part(const float* from, float* to, std::int64_t o_begin, std::int64_t i_begin) const {
  const auto o_end = std::min<std::int64_t>(o_begin + lanes, static_cast<std::int64_t>(outputs_.size()));
  const auto i_end = std::min<std::int64_t>(i_begin + lanes, static_cast<std::int64_t>(inputs_.size()));
  for (std::int64_t o = o_begin; o < o_end; ++o)
    for (std::int64_t i = i_begin; i < i_end; ++i) to[to_inputs_[o] + to_outputs_[i]] = from[outputs_[o] + inputs_[i]];
}

}  // namespace isobar::ops
