#include "isobar/ops/tile.hpp"

#include <array>
#include <immintrin.h>
#include <utility>

#include "isobar/base/instructions.hpp"

namespace isobar::ops {
namespace v3 {
namespace {

// Sixteen registers hold the sums of 6 rows and 16 columns, two vectors of b and one number of a.
constexpr int most_rows = 6, lanes = 8;

// A mask of the first `count` of 8 lanes.
inline __m256i first_lanes(std::int64_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

inline void put(float* to, __m256i mask, __m256 sum, bool add) {
  if (add) sum = _mm256_add_ps(sum, _mm256_maskload_ps(to, mask));
  _mm256_maskstore_ps(to, mask, sum);
}

// Rows [first, first + M) of a tile, and the 16 columns from `half * 16` on of a panel of `width` columns.
template <int M, TileWalk walk>
void run_part(const TileFactors& factors, const TileTarget& target, int first, int half, std::int64_t width) {
  const std::int64_t step = factors.step;
  constexpr bool by_rows = walk == TileWalk::rows_adjacent;
  const float* const from = factors.a + (by_rows ? first : first * step);
  __m256 sum[M][2];
#pragma GCC unroll 6
  for (int m = 0; m < M; ++m) sum[m][0] = sum[m][1] = _mm256_setzero_ps();
  for (const TileRun& run : factors.runs) {
    const float *a = from + run.a, *b = factors.b + run.b * width + half * tile_lanes;
    for (std::int64_t k = 0; k < factors.length; ++k, a += by_rows ? step : 1, b += width) {
      if constexpr (by_rows) _mm_prefetch(a + 8 * step, _MM_HINT_T0);
      const __m256 left = _mm256_load_ps(b), right = _mm256_load_ps(b + lanes);
#pragma GCC unroll 6
      for (int m = 0; m < M; ++m) {
        const __m256 factor = _mm256_broadcast_ss(by_rows ? a + m : a + m * step);
        sum[m][0] = _mm256_fmadd_ps(factor, left, sum[m][0]);
        sum[m][1] = _mm256_fmadd_ps(factor, right, sum[m][1]);
      }
    }
  }
  float* const to = half == 0 ? target.left : target.right;
  const std::int64_t columns = target.columns - half * tile_lanes;
  const __m256i left = first_lanes(columns), right = first_lanes(columns - lanes);
#pragma GCC unroll 6
  for (int m = 0; m < M; ++m) {
    float* const row = to + target.rows[first + m];
    put(row, left, sum[m][0], target.add);
    put(row + lanes, right, sum[m][1], target.add);
  }
}

template <TileWalk walk>
void run_rows(int rows, const TileFactors& factors, const TileTarget& target, int first, int half, std::int64_t width) {
  switch (rows) {
    case 1: return run_part<1, walk>(factors, target, first, half, width);
    case 2: return run_part<2, walk>(factors, target, first, half, width);
    case 3: return run_part<3, walk>(factors, target, first, half, width);
    case 4: return run_part<4, walk>(factors, target, first, half, width);
    case 5: return run_part<5, walk>(factors, target, first, half, width);
    default: return run_part<6, walk>(factors, target, first, half, width);
  }
}

void run_tile(TileWalk walk, int rows, const TileFactors& factors, const TileTarget& target) {
  const std::int64_t width = panel_width(target.columns);
  const int parts = (rows + most_rows - 1) / most_rows;
  for (int half = 0; half * tile_lanes < width; ++half)
    for (int part = 0; part < parts; ++part) {
      const int first = rows * part / parts, count = rows * (part + 1) / parts - first;
      if (walk == TileWalk::rows_adjacent)
        run_rows<TileWalk::rows_adjacent>(count, factors, target, first, half, width);
      else run_rows<TileWalk::depth_adjacent>(count, factors, target, first, half, width);
    }
}

void pack(const float* from, std::int64_t step, std::int64_t count, std::int64_t columns, float* panel) {
  const std::int64_t width = panel_width(columns);
  for (std::int64_t i = 0; i < count; ++i, from += step, panel += width)
    for (std::int64_t n = 0; n < width; n += lanes)
      _mm256_store_ps(panel + n, _mm256_maskload_ps(from + n, first_lanes(columns - n)));
}

}  // namespace
}  // namespace v3

namespace v4 {
namespace {

#define ISOBAR_AVX512 __attribute__((target("avx512f,fma")))

constexpr std::int64_t ahead = 8;  // steps of the depth by which memory is prefetched

// One step of the depth: a has M numbers, b is a row of the panel.
template <int M, int V, TileWalk walk>
ISOBAR_AVX512 inline __attribute__((always_inline)) void step_once(const float* a, std::int64_t step, const float* b,
                                                                   __m512 (&sum)[M][V]) {
  __m512 row[V];
#pragma GCC unroll 2
  for (int v = 0; v < V; ++v) row[v] = _mm512_load_ps(b + v * tile_lanes);
#pragma GCC unroll 14
  for (int m = 0; m < M; ++m) {
    const __m512 factor = _mm512_set1_ps(walk == TileWalk::rows_adjacent ? a[m] : a[m * step]);
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) sum[m][v] = _mm512_fmadd_ps(factor, row[v], sum[m][v]);
  }
}

ISOBAR_AVX512 inline __attribute__((always_inline)) void put(float* to, __mmask16 mask, __m512 sum, bool add) {
  if (add) sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(mask, to));
  _mm512_mask_storeu_ps(to, mask, sum);
}

template <int M, int V, TileWalk walk>
ISOBAR_AVX512 void run_tile(const TileFactors& factors, const TileTarget& target) {
  const std::int64_t step = factors.step, soon_step = factors.soon ? tile_lanes : 0;
  const float* soon = factors.soon ? factors.soon : factors.b;
  constexpr bool by_rows = walk == TileWalk::rows_adjacent;
  __m512 sum[M][V];  // all loops are unrolled, so that the compiler keeps them in registers
#pragma GCC unroll 14
  for (int m = 0; m < M; ++m) {
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) sum[m][v] = _mm512_setzero_ps();
    _mm_prefetch(target.left + target.rows[m], _MM_HINT_T0);
    if constexpr (V == 2) _mm_prefetch(target.right + target.rows[m], _MM_HINT_T0);
  }
  for (const TileRun& run : factors.runs) {
    const float *a = factors.a + run.a, *b = factors.b + run.b * V * tile_lanes;
    for (std::int64_t k = 0; k < factors.length; ++k, a += by_rows ? step : 1, b += V * tile_lanes) {
      if constexpr (by_rows) {  // the numbers of one step are in one or two cache lines, those of the next far away
        _mm_prefetch(a + ahead * step, _MM_HINT_T0);
        _mm_prefetch(a + ahead * step + M - 1, _MM_HINT_T0);
      }
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) _mm_prefetch(b + (ahead * V + v) * tile_lanes, _MM_HINT_T0);
      _mm_prefetch(soon, _MM_HINT_T1);
      soon += soon_step;
      step_once<M, V, walk>(a, step, b, sum);
    }
  }
  const auto last = static_cast<__mmask16>((1u << (target.columns - (V - 1) * tile_lanes)) - 1);
#pragma GCC unroll 14
  for (int m = 0; m < M; ++m) {
    put(target.left + target.rows[m], V == 1 ? last : static_cast<__mmask16>(0xffff), sum[m][0], target.add);
    if constexpr (V == 2) put(target.right + target.rows[m], last, sum[m][1], target.add);
  }
}

using RunTile = void (*)(const TileFactors&, const TileTarget&);
using Row = std::array<RunTile, tile_rows>;

template <int V, TileWalk walk, std::size_t... M>
constexpr Row all_rows(std::index_sequence<M...>) {
  return {run_tile<static_cast<int>(M) + 1, V, walk>...};
}

template <TileWalk walk>
constexpr std::array<Row, 2> all_widths{all_rows<1, walk>(std::make_index_sequence<tile_rows>()),
                                        all_rows<2, walk>(std::make_index_sequence<tile_rows>())};

ISOBAR_AVX512 void pack(const float* from, std::int64_t step, std::int64_t count, std::int64_t columns, float* panel) {
  const std::int64_t width = panel_width(columns);
  const auto mask = static_cast<__mmask16>((1u << (columns - (width - tile_lanes))) - 1);  // of the last vector
  for (std::int64_t i = 0; i < count; ++i, from += step, panel += width) {
    if (width > tile_lanes) _mm512_store_ps(panel, _mm512_loadu_ps(from));
    _mm512_store_ps(panel + width - tile_lanes, _mm512_maskz_loadu_ps(mask, from + width - tile_lanes));
  }
}

}  // namespace
}  // namespace v4

void compute_tile(TileWalk walk, int rows, const TileFactors& factors, const TileTarget& target) {
  if (instructions() == Instructions::v3) return v3::run_tile(walk, rows, factors, target);
  const std::size_t width = target.columns > tile_lanes ? 1 : 0, row = static_cast<std::size_t>(rows) - 1;
  const auto& table = walk == TileWalk::rows_adjacent ? v4::all_widths<TileWalk::rows_adjacent>
                                                      : v4::all_widths<TileWalk::depth_adjacent>;
  table[width][row](factors, target);
}

void pack_panel(const float* from, std::int64_t step, std::int64_t count, std::int64_t columns, float* panel) {
  if (instructions() == Instructions::v3) return v3::pack(from, step, count, columns, panel);
  v4::pack(from, step, count, columns, panel);
}

}  // namespace isobar::ops
