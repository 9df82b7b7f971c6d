#include "isobar/ops/gather_rows.hpp"

#include <algorithm>
#include <cmath>

#include "isobar/base/error.hpp"
#include "isobar/base/loops.hpp"

namespace isobar::ops {

std::vector<std::int64_t> picked_rows(const float* numbers, const RowPicks& p, std::int64_t per_sample) {
  std::vector<std::int64_t> picked(p.picks);
  const auto rows = static_cast<float>(p.rows);
  for (std::int64_t i = 0; i < p.picks; ++i) {
    const float n = numbers[i];
    if (!(n >= -rows && n < rows && n == std::floor(n)))
      fail("index {} of row {}, position {} is out of range; valid: whole numbers from {} to {}", n, i / per_sample,
           i % per_sample, -p.rows, p.rows - 1);
    picked[i] = static_cast<std::int64_t>(n < 0 ? n + rows : n);
  }
  return picked;
}

void gather_rows(const RowPicks& p, const std::vector<std::int64_t>& picked, const float* x, float* y) {
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t from = i / p.picks * p.rows + picked[i % p.picks];
      std::copy_n(x + from * p.width, p.width, y + i * p.width);
    }
  };
  in_parts(p.outer * p.picks, part, std::max<std::int64_t>(1, loop_part / p.width));
}

void scatter_rows(const RowPicks& p, const std::vector<std::int64_t>& picked, const float* dy, float* dx) {
  // Picks sorted by row; those of row r, in their original order, are first[r] .. first[r + 1].
  std::vector<std::int64_t> first(p.rows + 1), order(picked.size());
  for (const std::int64_t r : picked) ++first[r + 1];
  for (std::size_t r = 1; r < first.size(); ++r) first[r] += first[r - 1];
  std::vector<std::int64_t> next(first.begin(), first.end() - 1);
  for (std::size_t i = 0; i < picked.size(); ++i) order[next[picked[i]]++] = static_cast<std::int64_t>(i);
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      float* to = dx + i * p.width;
      std::fill_n(to, p.width, 0.0f);
      const std::size_t row = i % p.rows;
      for (std::int64_t k = first[row]; k < first[row + 1]; ++k) {
        const float* from = dy + (i / p.rows * p.picks + order[k]) * p.width;
        for (std::int64_t c = 0; c < p.width; ++c) to[c] += from[c];
      }
    }
  };
  in_parts(p.outer * p.rows, part, std::max<std::int64_t>(1, loop_part / p.width));
}

}  // namespace isobar::ops
