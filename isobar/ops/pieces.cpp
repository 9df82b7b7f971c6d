#include "isobar/ops/pieces.hpp"

#include <algorithm>
#include <vector>

#include "isobar/base/loops.hpp"
#include "isobar/ops/lanes.hpp"

namespace isobar::ops {
namespace {

// Rows of channels; a dense tensor is one long row.
struct Rows {
  const float* first;
  std::int64_t count, channels, pitch;
};

Rows rows_of(const dnnl::memory& memory) {
  const dnnl_memory_desc_t d = memory.get_desc().data;
  const float* const first = static_cast<const float*>(memory.get_data_handle()) + d.offset0;
  const std::int64_t channels = d.ndims > 0 ? d.dims[d.ndims - 1] : 1;
  const auto& blocking = d.format_desc.blocking;
  const bool whole = d.ndims < 2 || blocking.inner_nblks > 0 || blocking.strides[d.ndims - 1] != 1 ||
                     blocking.strides[d.ndims - 2] <= channels;
  if (whole) {  // including padding of blocked layouts
    const std::int64_t all = memory.get_desc().get_size() / sizeof(float);
    return {first, 1, all, all};
  }
  std::int64_t rows = 1;
  for (int axis = 0; axis + 1 < d.ndims; ++axis) rows *= d.dims[axis];
  return {first, rows, channels, blocking.strides[d.ndims - 2]};
}

struct SummedPieces {
  std::vector<Rows> pieces;
  const float* y;
  float slope;
  float* to;

  // Adds `count` numbers from number `at` of the result on, which are in one row of every piece.
  template <bool past>
  void add(std::int64_t row, std::int64_t column, std::int64_t at, std::int64_t count) const {
    in_lanes(count, [&](auto lanes, std::int64_t i) {
      using L = decltype(lanes);
      typename L::Floats sum = numbers<L>(pieces[0].first + row * pieces[0].pitch + column + i);
      for (std::size_t k = 1; k < pieces.size(); ++k)
        sum += numbers<L>(pieces[k].first + row * pieces[k].pitch + column + i);
      if (y) sum = numbers<L>(y + at + i) > 0 ? sum : slope * sum;
      store<past, L>(to + at + i, sum);
    });
  }

  template <bool past>
  void run() const {
    const std::int64_t rows = pieces[0].count, channels = pieces[0].channels;
    const auto some_rows = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) add<past>(row, 0, row * channels, channels);
      if (past) fence();
    };
    const auto some_numbers = [&](std::int64_t begin, std::int64_t end) {
      add<past>(0, begin, begin, end - begin);
      if (past) fence();
    };
    if (rows > 1) in_parts(rows, some_rows, std::max<std::int64_t>(1, loop_part / channels));
    else in_parts(channels, some_numbers);
  }
};

}  // namespace

Layout piece_layout(const Shape& shape, std::int64_t first, std::int64_t pitch) {
  std::vector<std::int64_t> strides(shape.rank(), 1);
  std::int64_t stride = pitch;
  for (int axis = shape.rank() - 1; axis-- > 0; stride *= shape[axis]) strides[axis] = stride;
  Layout layout(shape.extents(), Dtype::f32, strides);
  layout.data.offset0 = first;
  return layout;
}

std::optional<std::int64_t> copied_channels(const Kernel& kernel) {
  if (kernel.category != Category::copy || kernel.reads.size() != 1 || kernel.writes.size() != 1) return std::nullopt;
  const Port &read = kernel.reads[0], &write = kernel.writes[0];
  const bool of_gradient = read.slot == Slot{Slot::Kind::dy, 0} && write.slot.kind == Slot::Kind::dx;
  if (!of_gradient || read.layout == write.layout || read.layout.dims() != write.layout.dims()) return std::nullopt;
  return read.layout.data.offset0;
}

void add_pieces(std::span<const dnnl::memory> pieces, const float* y, float slope, float* to) {
  SummedPieces sum{{}, y, slope, to};
  for (const dnnl::memory& piece : pieces) sum.pieces.push_back(rows_of(piece));
  // If some pieces have rows, dense pieces are cut into the same rows.
  const auto cut = std::find_if(sum.pieces.begin(), sum.pieces.end(), [](const Rows& r) { return r.count > 1; });
  if (cut != sum.pieces.end()) {
    const Rows like = *cut;
    for (Rows& rows : sum.pieces)
      if (rows.count == 1) rows = {rows.first, like.count, like.channels, like.channels};
  }
  const Rows& first = sum.pieces[0];
  const bool in_place = std::any_of(sum.pieces.begin(), sum.pieces.end(), [&](const Rows& r) { return r.first == to; });
  if (!in_place && streams(to, first.count * first.channels, first.channels)) sum.run<true>();
  else sum.run<false>();
}

}  // namespace isobar::ops
