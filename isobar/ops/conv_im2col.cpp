// The row `im2col`: the columns of the whole batch (conv_columns.hpp) and one matrix product, in all directions:
//   y = columns w;  dw = columns^T dz;  dx = the columns dz w^T, gathered.
// w is stored as [groups, taps, C/groups, O/groups]. 1x1 kernels of stride 1 need no columns; otherwise the columns are
// the workspace, taps times the size of x.
#include <algorithm>

#include "isobar/ops/columns.hpp"
#include "isobar/ops/conv_columns.hpp"
#include "isobar/ops/conv_methods.hpp"
#include "isobar/ops/gemm.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

constexpr std::int64_t most_im2col_groups = 4;  // with more, the products are too small to be worth it

struct Products {
  ConvColumns columns;
  Gemm gemm;
  std::int64_t groups, channels, filters;  // of a group
  bool trivial;

  std::int64_t row() const { return columns.taps() * channels; }
  std::int64_t weights() const { return row() * filters; }
  /// The workspace in floats: columns, then what the product needs.
  std::int64_t column_numbers() const { return trivial ? 0 : columns.rows() * row(); }
  std::int64_t workspace() const { return std::max<std::int64_t>(1, column_numbers() + gemm.scratch()); }
};

Products products(const Setting& setting, const ConvCase& p, Direction direction) {
  const ConvColumns columns(p);
  const std::int64_t c = p.x[-1] / p.groups, o = p.y[-1] / p.groups, row = columns.taps() * c, rows = columns.rows();
  const bool trivial = columns.trivial();
  const Layout left = matrix(rows, row, trivial ? p.x[-1] : row);
  const Layout result = matrix(rows, o, p.y[-1]), w = matrix(row, o, o);
  const auto turned = [](const Layout& m) {
    const auto& s = m.data.format_desc.blocking.strides;
    return matrix(m.data.dims[1], m.data.dims[0], s[1], s[0]);
  };
  const auto gemm = [&] {
    switch (direction) {
      case Direction::forward: return Gemm(setting, left, w, result, {p.bias, false, p.after});
      case Direction::weight_gradient: return Gemm(setting, turned(left), result, w);
      case Direction::data_gradient: return Gemm(setting, result, turned(w), left);
    }
    throw std::logic_error("a direction without a product");
  };
  return {columns, gemm(), p.groups, c, o, trivial};
}

std::optional<std::vector<Kernel>> make_im2col(const Setting& setting, const ConvCase& p, Direction direction) {
  if (p.groups > most_im2col_groups) return std::nullopt;
  const Products parts = products(setting, p, direction);
  Kernel kernel{std::string(direction_name(direction)),
                direction == Direction::forward ? Category::forward_convolution : Category::backward_convolution};
  kernel.flops = p.flops;
  const Layout w = weight_rows(p);
  const Port workspace{{Kind::temp, first_scratch + p.temporary}, plain({parts.workspace()})};
  // Calls `use` for one group after the other, with its number, its columns, and scratch memory for the product.
  const auto each = [parts](float* workspace_numbers, const auto& use) {
    for (std::int64_t g = 0; g < parts.groups; ++g)
      use(g, workspace_numbers, workspace_numbers + parts.column_numbers());
  };
  switch (direction) {
    case Direction::forward:
      kernel.reads = {{{Kind::x, 0}, p.x_layout}, {{Kind::x, 1}, w}};
      if (p.bias) kernel.reads.push_back({{Kind::x, 2}, p.b});
      kernel.writes = {{{Kind::y, 0}, p.y_layout}, workspace};
      kernel.run = [parts, each, bias = p.bias](const Moment& moment, std::span<const dnnl::memory> m) {
        const auto out = m.subspan(bias ? 3 : 2);
        each(floats(out[1]), [&](std::int64_t g, float* columns, float* scratch) {
          const float* const x = floats(m[0]);
          if (!parts.trivial) parts.columns.fill(x, g * parts.channels, parts.channels, columns);
          parts.gemm.run(moment, parts.trivial ? x + g * parts.channels : columns, floats(m[1]) + g * parts.weights(),
                         bias ? floats(m[2]) + g * parts.filters : nullptr, floats(out[0]) + g * parts.filters,
                         scratch);
        });
      };
      break;
    case Direction::weight_gradient:
      kernel.reads = {{{Kind::x, 0}, p.x_layout}, {p.dz, p.y_layout}};
      kernel.writes = {{{Kind::dx, 1}, w}, workspace};
      if (p.bias) kernel.writes.push_back({{Kind::dx, 2}, p.b});
      kernel.run = [parts, each, bias = p.bias](const Moment& moment, std::span<const dnnl::memory> m) {
        each(floats(m[3]), [&](std::int64_t g, float* columns, float* scratch) {
          const float* const x = floats(m[0]);
          if (!parts.trivial) parts.columns.fill(x, g * parts.channels, parts.channels, columns);
          parts.gemm.run(moment, parts.trivial ? x + g * parts.channels : columns, floats(m[1]) + g * parts.filters,
                         nullptr, floats(m[2]) + g * parts.weights(), scratch);
        });
        if (bias) sum_rows(parts.columns.rows(), parts.groups * parts.filters, floats(m[1]), floats(m[4]));
      };
      break;
    case Direction::data_gradient:
      kernel.reads = {{{Kind::x, 1}, w}, {p.dz, p.y_layout}};
      kernel.writes = {{{Kind::dx, 0}, p.x_layout}, workspace};
      kernel.run = [parts, each](const Moment& moment, std::span<const dnnl::memory> m) {
        each(floats(m[3]), [&](std::int64_t g, float* columns, float* scratch) {
          float* const dx = floats(m[2]);
          parts.gemm.run(moment, floats(m[1]) + g * parts.filters, floats(m[0]) + g * parts.weights(), nullptr,
                         parts.trivial ? dx + g * parts.channels : columns, scratch);
          if (!parts.trivial) parts.columns.gather(columns, g * parts.channels, parts.channels, dx);
        });
      };
      break;
  }
  return one_kernel(std::move(kernel));
}

}  // namespace

extern const ConvMethod conv_im2col{"im2col", "columns of all windows, and one product of matrices", make_im2col,
                                    [](const ConvCase&, Direction) { return false; }};

}  // namespace isobar::ops
