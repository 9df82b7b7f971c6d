#include "isobar/ops/turned_weights.hpp"

#include <algorithm>
#include <utility>

#include "isobar/base/loops.hpp"
#include "isobar/ops/axis_offsets.hpp"
#include "isobar/ops/lanes.hpp"

namespace isobar::ops {
namespace {

// Exchanges, between rows `distance` apart, the quarters that change places in a transposition.
template <class L, int distance, int... lane>
inline void exchange(typename L::Floats* rows, std::integer_sequence<int, lane...>) {
#pragma GCC unroll 16
  for (int r = 0; r < L::lanes; ++r) {
    if (r & distance) continue;
    const typename L::Floats a = rows[r], b = rows[r + distance];
    rows[r] = __builtin_shufflevector(a, b, (lane & distance ? L::lanes + lane - distance : lane)...);
    rows[r + distance] = __builtin_shufflevector(a, b, (lane & distance ? L::lanes + lane : lane + distance)...);
  }
}

// to[to_rows[j]][i] = from[from_rows[i]][j] for as many i and j as a vector has lanes.
template <class L>
inline void turn_square(const float* from, const std::int64_t* from_rows, float* to, const std::int64_t* to_rows) {
  constexpr std::make_integer_sequence<int, L::lanes> all;
  typename L::Floats rows[L::lanes];
#pragma GCC unroll 16
  for (int i = 0; i < L::lanes; ++i) rows[i] = numbers<L>(from + from_rows[i]);
  if constexpr (L::lanes == 16) exchange<L, 8>(rows, all);
  exchange<L, 4>(rows, all);
  exchange<L, 2>(rows, all);
  exchange<L, 1>(rows, all);
#pragma GCC unroll 16
  for (int j = 0; j < L::lanes; ++j) numbers<L>(to + to_rows[j]) = rows[j];
}

// Whether offsets are consecutive in each group of `square`, and in the last, smaller group.
bool in_vectors(const std::vector<std::int64_t>& offsets, std::size_t square) {
  for (std::size_t i = 0; i < offsets.size(); ++i)
    if (offsets[i] != offsets[i / square * square] + static_cast<std::int64_t>(i % square)) return false;
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
    const int axis = a + 2;
    const std::vector<std::int64_t> offsets = axis_offsets(stored, axis);
    to.push_back(axis_offsets(turned, axis));
    const auto count = std::ssize(to.back());
    auto& chosen = from.emplace_back();
    for (std::int64_t t = 0; t < count; ++t) chosen.push_back(offsets[first[a] + step[a] * (count - 1 - t)]);
  }
  taps_ = all_sums(from);
  to_taps_ = all_sums(to);
  const std::int64_t copied = outputs_.size() * inputs_.size() * taps_.size();
  if (padded_count(turned) != copied) padding_ = padded_count(turned);
  const std::size_t square = instructions() == Instructions::v4 ? Sixteen::lanes : Eight::lanes;
  by_squares_ = in_vectors(outputs_, square) && in_vectors(to_outputs_, square);
}

void TurnedWeights::copy(const float* from, float* to) const {
  constexpr std::int64_t tile = 32;  // outputs
  std::fill_n(to, padding_, 0.0f);
  const auto outputs = std::ssize(outputs_), taps = std::ssize(taps_);
  const auto one = [&](std::int64_t number, std::int64_t) {
    const std::int64_t o = number / taps * tile, end = std::min(outputs, o + tile);
    const std::int64_t from_tap = taps_[number % taps], to_tap = to_taps_[number % taps];
    if (instructions() == Instructions::v4) copy_tile<Sixteen>(from + from_tap, to + to_tap, o, end);
    else copy_tile<Eight>(from + from_tap, to + to_tap, o, end);
  };
  in_parts((outputs + tile - 1) / tile * taps, one, 1);
}

// The outputs [begin, end) of one tap, with all inputs.
template <class L>
void TurnedWeights::copy_tile(const float* from, float* to, std::int64_t begin, std::int64_t end) const {
  const auto inputs = std::ssize(inputs_);
  for (std::int64_t i = 0; i < inputs; i += L::lanes)
    for (std::int64_t o = begin; o < end; o += L::lanes)
      if (by_squares_ && i + L::lanes <= inputs && o + L::lanes <= end)
        turn_square<L>(from + outputs_[o], inputs_.data() + i, to + to_outputs_[i], to_inputs_.data() + o);
      else copy_part(from, to, o, i, L::lanes);
}

// Copies up to `square` outputs and inputs, one by one.
void TurnedWeights::copy_part(const float* from, float* to, std::int64_t o_begin, std::int64_t i_begin,
                              std::int64_t square) const {
  const auto o_end = std::min<std::int64_t>(o_begin + square, std::ssize(outputs_));
  const auto i_end = std::min<std::int64_t>(i_begin + square, std::ssize(inputs_));
  for (std::int64_t o = o_begin; o < o_end; ++o)
    for (std::int64_t i = i_begin; i < i_end; ++i) to[to_inputs_[o] + to_outputs_[i]] = from[outputs_[o] + inputs_[i]];
}

}  // namespace isobar::ops
