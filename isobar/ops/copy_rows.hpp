// Copying rows between two pitches: the basis of concat and split.
#pragma once

#include <algorithm>
#include <cstring>

#include "isobar/base/loops.hpp"
#include "isobar/ops/lanes.hpp"

namespace isobar::ops {

/// Copies rows of `length` numbers between two row pitches, in parts of about loop_part numbers.
inline void copy_rows(std::int64_t rows, std::int64_t length, const float* from, std::int64_t from_pitch, float* to,
                      std::int64_t to_pitch) {
  if (rows == 1) {  // one long row is also cut into parts
    in_parts(length, [=](std::int64_t begin, std::int64_t end) { std::copy(from + begin, from + end, to + begin); });
    return;
  }
  const bool past = streams(to, rows * length, length) && to_pitch % Sixteen::lanes == 0;
  const auto copy = [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r)
      if (past)
        for (std::int64_t i = 0; i < length; i += Sixteen::lanes)
          store<true, Sixteen>(to + r * to_pitch + i, numbers<Sixteen>(from + r * from_pitch + i));
      else std::memcpy(to + r * to_pitch, from + r * from_pitch, length * sizeof(float));
    if (past) fence();
  };
  in_parts(rows, copy, std::max<std::int64_t>(1, loop_part / length));
}

}  // namespace isobar::ops
