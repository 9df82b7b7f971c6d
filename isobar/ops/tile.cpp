#include "isobar/ops/tile.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "isobar/base/error.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace isobar::ops {

#if defined(__x86_64__)
namespace {

#define ISOBAR_AVX512 __attribute__((target("avx512f,fma")))

constexpr std::int64_t ahead = 8;  // steps of the depth that memory is asked for in advance

// One step of the depth: a holds M numbers, b a row of the panel.
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
  __m512 sum[M][V];  // unrolled throughout, so that the compiler keeps them in registers
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
      if constexpr (by_rows) {  // the numbers of one step lie in one or two lines, those of the next far away
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

}  // namespace

bool can_tile() { return __builtin_cpu_supports("avx512f"); }

void compute_tile(TileWalk walk, int rows, const TileFactors& factors, const TileTarget& target) {
  const std::size_t width = target.columns > tile_lanes ? 1 : 0, row = static_cast<std::size_t>(rows) - 1;
  const auto& table =
      walk == TileWalk::rows_adjacent ? all_widths<TileWalk::rows_adjacent> : all_widths<TileWalk::depth_adjacent>;
  table[width][row](factors, target);
}
ISOBAR_AVX512 void pack_panel(const float* from, std::int64_t step, std::int64_t count, std::int64_t columns,
                              float* panel) {
  const std::int64_t width = panel_width(columns);
  const auto mask = static_cast<__mmask16>((1u << (columns - (width - tile_lanes))) - 1);  // of the last vector
  for (std::int64_t i = 0; i < count; ++i, from += step, panel += width) {
    if (width > tile_lanes) _mm512_store_ps(panel, _mm512_loadu_ps(from));
    _mm512_store_ps(panel + width - tile_lanes, _mm512_maskz_loadu_ps(mask, from + width - tile_lanes));
  }
}
#else
bool can_tile() { return false; }

void pack_panel(const float*, std::int64_t, std::int64_t, std::int64_t, float*) {
  expects(false, "panels to be packed only where can_tile()");
}

void compute_tile(TileWalk, int, const TileFactors&, const TileTarget&) {
  expects(false, "tiles to be run only where can_tile()");
}
#endif

}  // namespace isobar::ops
