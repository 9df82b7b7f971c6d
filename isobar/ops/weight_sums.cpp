#include "isobar/ops/weight_sums.hpp"

#include <algorithm>
#include <array>
#include <omp.h>
#include <span>

#include "isobar/base/loops.hpp"
#include "isobar/ops/axis_offsets.hpp"
#include "isobar/ops/tile.hpp"

namespace isobar::ops {
namespace {

constexpr std::int64_t some_pixels = 512;         // of a block, rounded to whole rows
constexpr std::int64_t most_pixels = 768;         // upper limit after rounding
constexpr std::int64_t most_panels = 8;           // packed at a time: 512 KB
constexpr std::int64_t least_to_pack = 4;         // panels for which copying the channels first pays
constexpr std::int64_t most_merged = 16;          // up to this many channels, the taps of a row are merged
constexpr std::int64_t small_gradient = 1 << 16;  // up to this many numbers, it is summed in parts
constexpr std::int64_t most_sum_parts = 8;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// How many threads share the work along each axis.
struct TileGrid {
  int parts = 1, units = 1, panels = 1;
};

double speed_up(std::int64_t work, std::int64_t threads) { return static_cast<double>(work) / ceil_div(work, threads); }

TileGrid best_grid(int threads, std::int64_t parts, std::int64_t units, std::int64_t panels) {
  TileGrid best;
  double most = 0;
  for (int p = threads; p >= 1; --p)
    for (int u = threads / p; u >= 1; --u) {
      const int o = threads / p / u;
      const double gain = speed_up(parts, p) * speed_up(units, u) * speed_up(panels, o);
      if (gain > most * 1.001) most = gain, best = {p, u, o};
    }
  return best;
}

// Positions p of [begin, end) for which 0 <= p * stride + offset < in.
struct Range {
  std::int64_t begin, end;
  Range(std::int64_t first, std::int64_t last, std::int64_t stride, std::int64_t offset, std::int64_t in)
      : begin(std::max(first, offset < 0 ? ceil_div(-offset, stride) : 0)),
        end(std::min(last, in - 1 < offset ? 0 : (in - 1 - offset) / stride + 1)) {}
};

}  // namespace

// Output rows (n, d, h) from `row` on, and the columns used of each.
struct WeightSums::Block {
  std::int64_t row, rows, column, columns;
  bool first;  // first of its part: sums begin here
  std::int64_t pixels() const { return rows * columns; }
};

struct WeightSums::Share {
  std::int64_t part_begin, part_end, unit_begin, unit_end, panel_begin, panel_end;
};

struct WeightSums::Target {
  const float *x, *dz;
  float *panels, *channels, *copy;  // scratch of this thread
  float *dw, *db;
  const float *soon = nullptr, *soon_end = nullptr;  // outputs of the next block
};

// The runs of a tap through one block.
struct WeightSums::Rows {
  const float* a = nullptr;
  std::int64_t length = 0, step = 0, count = 0;
  std::array<TileRun, most_pixels> runs;

  // Copies rows of `channels` numbers side by side, so that they do not compete for the same cache line.
  void pack(std::int64_t first, std::int64_t channels, float* to, Rows& packed) const {
    packed.a = to;
    packed.length = length;
    packed.step = tile_lanes;
    packed.count = count;
    for (std::int64_t i = 0; i < count; ++i) {
      const TileRun& run = runs[i];
      packed.runs[i] = {i * length * tile_lanes, run.b};
      pack_panel(a + first + run.a, step, length, channels, to + i * length * tile_lanes);
    }
  }
};

WeightSums::WeightSums(const WindowExtents& extents, const Layout& dw)
    : e_(extents),
      x_pitch_(extents.x_pitch > 0 ? extents.x_pitch : extents.channels),
      y_pitch_(extents.y_pitch > 0 ? extents.y_pitch : extents.outputs),
      weights_(padded_count(dw)),
      merged_(extents.channels <= most_merged && x_pitch_ == extents.channels && extents.kernel[2] > 1 &&
              extents.dilation[2] == 1),
      inside_(extents.before[2] == 0 && (extents.out[2] - 1) * extents.stride[2] + extents.kernel[2] <= extents.in[2]) {
  const std::int64_t all_rows = e_.batch * e_.out[0] * e_.out[1];
  column_blocks_ = ceil_div(e_.out[2], some_pixels);
  columns_ = ceil_div(e_.out[2], column_blocks_);
  rows_ = std::min(all_rows, std::max<std::int64_t>(1, (some_pixels + columns_ / 2) / columns_));
  row_blocks_ = ceil_div(all_rows, rows_);
  padded_ = weights_ != e_.taps() * e_.channels * e_.outputs;
  parts_ = weights_ <= small_gradient ? std::min(most_sum_parts, blocks()) : 1;

  std::vector<std::vector<std::int64_t>> lists;
  for (int axis = 2; axis < dw.data.ndims; ++axis) lists.push_back(axis_offsets(dw, axis));
  lists.push_back(axis_offsets(dw, 1));
  row_offsets_ = all_sums(lists);
  const std::vector<std::int64_t> outputs = axis_offsets(dw, 0);
  for (std::size_t o = 0; o < outputs.size(); o += tile_lanes) output_offsets_.push_back(outputs[o]);
}

bool WeightSums::fits(const Layout& dw) {
  if (dw.data.format_kind != dnnl_blocked) return false;
  const std::vector<std::int64_t> outputs = axis_offsets(dw, 0);
  for (std::size_t o = 0; o < outputs.size(); ++o)
    if (outputs[o] != outputs[o / tile_lanes * tile_lanes] + static_cast<std::int64_t>(o % tile_lanes)) return false;
  return true;
}

std::int64_t WeightSums::units() const {
  const std::int64_t taps = merged_ ? e_.kernel[0] * e_.kernel[1] : e_.taps();
  return taps * tile_blocks(merged_ ? e_.kernel[2] * e_.channels : e_.channels);
}

std::int64_t WeightSums::panel_numbers() const {
  return std::min(panels(), most_panels) * rows_ * columns_ * tile_columns;
}

std::int64_t WeightSums::copy_numbers() const {
  if (!merged_ || inside_) return 0;
  return ceil_div(rows_ * ((columns_ - 1) * e_.stride[2] + e_.kernel[2]) * e_.channels, tile_lanes) * tile_lanes;
}

std::int64_t WeightSums::scratch(int threads) const {
  return tile_lanes + threads * (panel_numbers() + most_pixels * tile_lanes + copy_numbers()) +
         (parts_ > 1 ? parts_ * (weights_ + e_.outputs) : 0);
}

WeightSums::Block WeightSums::block(std::int64_t number) const {
  const std::int64_t row = number / column_blocks_ * rows_, column = number % column_blocks_ * columns_;
  return {row, std::min(rows_, e_.batch * e_.out[0] * e_.out[1] - row), column, std::min(columns_, e_.out[2] - column),
          false};
}

WeightSums::Share WeightSums::share(int thread, int threads) const {
  const TileGrid grid = best_grid(threads, parts_, units(), panels());
  if (thread >= grid.parts * grid.units * grid.panels) return {};
  const int p = thread % grid.parts, u = thread / grid.parts % grid.units, o = thread / grid.parts / grid.units;
  return {parts_ * p / grid.parts,        parts_ * (p + 1) / grid.parts, units() * u / grid.units,
          units() * (u + 1) / grid.units, panels() * o / grid.panels,    panels() * (o + 1) / grid.panels};
}

// Packs panels of the outputs; the thread that has the first unit also sums the bias gradient.
void WeightSums::pack_outputs(const Block& b, std::int64_t first, std::int64_t last, const Share& share,
                              const Target& target) const {
  constexpr std::int64_t stretch = 4;  // pixels whose outputs are read together, since they are contiguous
  const auto columns_of = [&](std::int64_t panel) {
    return std::min<std::int64_t>(tile_columns, e_.outputs - panel * tile_columns);
  };
  for (std::int64_t r = 0; r < b.rows; ++r)
    for (std::int64_t p = 0; p < b.columns; p += stretch)
      for (std::int64_t panel = first; panel < last; ++panel)
        pack_panel(target.dz + ((b.row + r) * e_.out[2] + b.column + p) * y_pitch_ + panel * tile_columns, y_pitch_,
                   std::min(stretch, b.columns - p), columns_of(panel),
                   target.panels + (panel - first) * b.pixels() * tile_columns +
                       (r * b.columns + p) * panel_width(columns_of(panel)));
  for (std::int64_t panel = first; panel < last; ++panel) {
    const std::int64_t o = panel * tile_columns, columns = columns_of(panel), width = panel_width(columns);
    const float* const to = target.panels + (panel - first) * b.pixels() * tile_columns;
    if (!target.db || share.unit_begin != 0) continue;
    float sum[tile_columns]{};
    for (std::int64_t p = 0; p < b.pixels(); ++p)
#pragma omp simd
      for (std::int64_t n = 0; n < width; ++n) sum[n] += to[p * width + n];
    for (std::int64_t n = 0; n < columns; ++n) target.db[o + n] = b.first ? sum[n] : target.db[o + n] + sum[n];
  }
}

// Copies one row of x as the merged taps read it: the columns under the block's windows, zero outside x.
std::int64_t WeightSums::copy_row(const Block& b, const float* row, float* to) const {
  const std::int64_t first = b.column * e_.stride[2] - e_.before[2];
  const std::int64_t count = (b.columns - 1) * e_.stride[2] + e_.kernel[2];
  const std::int64_t begin = std::clamp<std::int64_t>(-first, 0, count);
  const std::int64_t end = std::clamp<std::int64_t>(e_.in[2] - first, begin, count);
  std::fill_n(to, begin * e_.channels, 0.0f);
  std::copy(row + (first + begin) * e_.channels, row + (first + end) * e_.channels, to + begin * e_.channels);
  std::fill_n(to + end * e_.channels, (count - end) * e_.channels, 0.0f);
  return count * e_.channels;
}

// Which ranges of x the tap reads in this block, and where they begin.
void WeightSums::gather_rows(const Block& b, std::int64_t tap, const Target& target, Rows& rows) const {
  const std::int64_t window_row = merged_ ? tap : tap / e_.kernel[2], kw = merged_ ? 0 : tap % e_.kernel[2];
  const std::int64_t offset[3]{window_row / e_.kernel[1] * e_.dilation[0] - e_.before[0],
                               window_row % e_.kernel[1] * e_.dilation[1] - e_.before[1],
                               kw * e_.dilation[2] - e_.before[2]};
  const bool copies = merged_ && !inside_;
  Range w(b.column, b.column + b.columns, e_.stride[2], offset[2], e_.in[2]);
  if (merged_) w.begin = b.column, w.end = b.column + b.columns;
  rows.count = 0;
  rows.length = w.end - w.begin;
  rows.step = e_.stride[2] * x_pitch_;
  rows.a = copies ? target.copy : target.x;
  if (rows.length <= 0) return;
  std::int64_t copied = 0;
  for (std::int64_t r = 0; r < b.rows; ++r) {
    const std::int64_t line = b.row + r, h = line % e_.out[1], d = line / e_.out[1] % e_.out[0];
    const std::int64_t n = line / e_.out[1] / e_.out[0];
    const std::int64_t xd = d * e_.stride[0] + offset[0], xh = h * e_.stride[1] + offset[1];
    if (xd < 0 || xd >= e_.in[0] || xh < 0 || xh >= e_.in[1]) continue;
    const std::int64_t row = ((n * e_.in[0] + xd) * e_.in[1] + xh) * e_.in[2] * x_pitch_;
    const std::int64_t a = copies ? copied : row + (w.begin * e_.stride[2] + offset[2]) * x_pitch_;
    if (copies) copied += copy_row(b, target.x + row, target.copy + copied);
    rows.runs[rows.count++] = {a, r * b.columns + w.begin - b.column};
  }
}

void WeightSums::add_block(const Block& b, const Share& share, Target& target) const {
  const std::int64_t channels = merged_ ? e_.kernel[2] * e_.channels : e_.channels, tiles = tile_blocks(channels);
  Rows rows, packed;
  for (std::int64_t first = share.panel_begin; first < share.panel_end; first += most_panels) {
    const std::int64_t last = std::min(share.panel_end, first + most_panels);
    pack_outputs(b, first, last, share, target);
    for (std::int64_t unit = share.unit_begin; unit < share.unit_end; ++unit) {
      const std::int64_t tap = unit / tiles, c = tile_begin(channels, unit % tiles);
      const int count = tile_begin(channels, unit % tiles + 1) - c;
      if (unit == share.unit_begin || unit % tiles == 0) gather_rows(b, tap, target, rows);
      const bool packs = last - first >= least_to_pack;
      if (packs) {
        rows.pack(c, count, target.channels, packed);
      }
      const Rows& from = packs ? packed : rows;
      const std::span runs(from.runs.data(), from.count);
      for (std::int64_t panel = first; panel < last; ++panel) {
        const std::int64_t columns = std::min<std::int64_t>(tile_columns, e_.outputs - panel * tile_columns);
        float* const left = target.dw + output_offsets_[2 * panel];
        float* const right = columns > tile_lanes ? target.dw + output_offsets_[2 * panel + 1] : left;
        const float* const soon = target.soon < target.soon_end ? target.soon : nullptr;
        if (soon) target.soon += from.count * from.length * tile_lanes;
        compute_tile(TileWalk::rows_adjacent, count,
                     {packs ? from.a : from.a + c, target.panels + (panel - first) * b.pixels() * tile_columns, runs,
                      from.length, from.step, soon},
                     {left, right, row_offsets_.data() + tap * channels + c, static_cast<int>(columns), !b.first});
      }
    }
  }
}

void WeightSums::run(int threads, const float* x, const float* dz, float* scratch, float* dw, float* db) const {
  const std::int64_t each = panel_numbers() + most_pixels * tile_lanes + copy_numbers();
  float* const room = scratch + (-(reinterpret_cast<std::intptr_t>(scratch) / 4) & (tile_lanes - 1));
  float* const sums = room + threads * each;
  if (padded_)  // nothing else writes the padding
    in_parts(parts_ > 1 ? parts_ * (weights_ + e_.outputs) : weights_, [&](std::int64_t begin, std::int64_t end) {
      std::fill((parts_ > 1 ? sums : dw) + begin, (parts_ > 1 ? sums : dw) + end, 0.0f);
    });
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    const Share mine = share(thread, omp_get_num_threads());
    float* const own = room + thread * each;
    for (std::int64_t part = mine.part_begin; part < mine.part_end; ++part) {
      float* const sum = sums + part * (weights_ + e_.outputs);
      Target target{x,
                    dz,
                    own,
                    own + panel_numbers(),
                    own + panel_numbers() + most_pixels * tile_lanes,
                    parts_ > 1 ? sum : dw,
                    !db          ? nullptr
                    : parts_ > 1 ? sum + weights_
                                 : db};
      const std::int64_t begin = blocks() * part / parts_, end = blocks() * (part + 1) / parts_;
      for (std::int64_t number = begin; number < end; ++number) {
        Block b = block(number);
        b.first = number == begin;
        if (parts_ > 1 && number + 1 < end) {  // a small gradient is limited by reading its outputs from memory
          const Block next = block(number + 1);
          target.soon = dz + (next.row * e_.out[2] + next.column) * y_pitch_;
          target.soon_end = target.soon + next.pixels() * y_pitch_;
        }
        run_dispatched([&] { add_block(b, mine, target); });
      }
    }
  }
  if (parts_ == 1) return;
  const auto add_up = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      float total = 0;
      for (std::int64_t part = 0; part < parts_; ++part) total += sums[part * (weights_ + e_.outputs) + i];
      if (i < weights_) dw[i] = total;
      else if (db) db[i - weights_] = total;
    }
  };
  in_parts(weights_ + e_.outputs, add_up);
}

}  // namespace isobar::ops
