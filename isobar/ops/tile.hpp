// The inner loop of our own products: a tile of up to 14 rows and 32 columns stays in registers for the whole depth.
//   c[m][n] (+)= sum over runs r, k < length of a[r.a + m + k * step] * b[r.b + k][n]   (or a[r.a + m * step + k])
// a is read number by number and broadcast, so it may be anywhere in memory; b is a packed panel of 32 (or 16) columns.
// With AVX-512, 28 sums, two vectors of b and one of a fill the 32 registers, and 14 numbers of a are loaded for 28
// multiplications, so that loads keep up with arithmetic; AVX2 computes a tile in parts of 6 rows and 16 columns.
#pragma once

#include <cstdint>
#include <span>

namespace isobar::ops {

inline constexpr int tile_lanes = 16;    ///< numbers in a vector
inline constexpr int tile_rows = 14;     ///< most rows of a tile
inline constexpr int tile_columns = 32;  ///< most columns of a tile

/// A stretch of the depth: where it begins in a, and at which row of the panel b.
struct TileRun {
  std::int64_t a, b;
};

/// What is multiplied: all runs have the same length.
struct TileFactors {
  const float *a, *b;
  std::span<const TileRun> runs;
  std::int64_t length, step;
  const float* soon = nullptr;  ///< memory that later tiles need: every step prefetches 16 numbers of it
};

/// Where the sums go: row m, column n < 16 is left[rows[m] + n], column 16 + n is right[rows[m] + n].
struct TileTarget {
  float *left, *right;
  const std::int64_t* rows;
  int columns = tile_columns;  ///< valid columns; up to 16 use one vector and panels of 16 columns
  bool add = false;            ///< add to the target; else overwrite it
};

/// The order of a in memory: consecutive rows adjacent and `step` from one k to the next, or the other way round.
enum class TileWalk { rows_adjacent, depth_adjacent };

/// Computes one tile of `rows` rows (1 to 14); panels are aligned to 64 bytes.
void compute_tile(TileWalk walk, int rows, const TileFactors& factors, const TileTarget& target);

/// How many tiles `count` rows are divided into: as few and as even as possible.
inline std::int64_t tile_blocks(std::int64_t count) { return (count + tile_rows - 1) / tile_rows; }
/// The first row of tile i.
inline std::int64_t tile_begin(std::int64_t count, std::int64_t i) { return count * i / tile_blocks(count); }

/// Columns of a panel of b: 16 if that is enough.
inline std::int64_t panel_width(std::int64_t columns) { return columns <= tile_lanes ? tile_lanes : tile_columns; }

/// Copies `count` rows of `columns` numbers, `step` apart, into a panel; the rest of its width becomes zero.
void pack_panel(const float* from, std::int64_t step, std::int64_t count, std::int64_t columns, float* panel);

}  // namespace isobar::ops
