#include "isobar/ops/conv_tiles.hpp"

#include <algorithm>
#include <vector>

#include "isobar/base/loops.hpp"
#include "isobar/ops/columns.hpp"
#include "isobar/ops/gemm.hpp"
#include "isobar/ops/primitive.hpp"
#include "isobar/ops/tile_walk.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

constexpr std::int64_t most_tiled_groups = 4;
constexpr std::int64_t chunk_bytes = 4 << 20;  // size of the spectra that are made and used while they are in cache
constexpr int most_numbers = 2 * 32 * 17;      // of one spectrum: tiles of 32 x 32, Fourier

Layout stack(std::int64_t count, std::int64_t rows, std::int64_t columns, bool transposed = false) {
  return Layout(
      {count, rows, columns}, Dtype::f32,
      transposed ? dnnl::memory::dims{rows * columns, 1, rows} : dnnl::memory::dims{rows * columns, columns, 1});
}

// One direction: sizes, and the three loops around the matrix product.
struct Tiled {
  std::shared_ptr<const TileTransform> transform;
  ImageWalk walk;
  std::int64_t groups, in, out;  // channels of a group of the image and of the results
  std::int64_t chunk;            // tiles at a time
  bool turned = false;           // the weights are those of the opposite direction
  bool bias = false;
  std::optional<Pointwise> after{};

  std::int64_t parts() const { return transform->parts; }
  std::int64_t points() const { return transform->points; }
  std::int64_t spectra(std::int64_t channels) const { return points() * chunk * parts() * channels; }
  std::int64_t weight_numbers() const { return points() * parts() * parts() * in * out; }

  // spectrum[point, tile, part * width + channel] of tiles [first, last): of the image, or the adjoint of the results.
  void analyse(const float* from, std::int64_t offset, std::int64_t width, bool of_image, std::int64_t first,
               std::int64_t last, float* to) const {
    const std::int64_t blocks = (width + image_lanes - 1) / image_lanes;
    const auto one = [&](std::int64_t number, std::int64_t) {
      const std::int64_t t = first + number / blocks, c = number % blocks * image_lanes;
      const std::int64_t count = std::min<std::int64_t>(image_lanes, width - c);
      Lanes tile[32 * 32], spectrum[most_numbers];
      if (of_image) walk.read_image(from, t, offset + c, count, tile), transform->image(tile, spectrum);
      else walk.read_results(from, t, offset + c, count, tile), transform->output_adjoint(tile, spectrum);
      for (std::int64_t part = 0, s = 0; part < parts(); ++part)
        for (std::int64_t p = 0; p < points(); ++p, ++s)
          store_lanes(spectrum[s], to + (p * chunk + t - first) * parts() * width + part * width + c, count);
    };
    in_parts((last - first) * blocks, one, 1);
  }

  // Results of tiles [first, last) from their spectra, with the bias and `after` applied.
  void synthesise(const float* from, std::int64_t offset, const float* added, std::int64_t first, std::int64_t last,
                  float* to) const {
    const std::int64_t blocks = (out + image_lanes - 1) / image_lanes;
    const auto one = [&](std::int64_t number, std::int64_t) {
      const std::int64_t t = first + number / blocks, c = number % blocks * image_lanes;
      const std::int64_t count = std::min<std::int64_t>(image_lanes, out - c);
      Lanes tile[32 * 32], spectrum[most_numbers];
      for (std::int64_t part = 0, s = 0; part < parts(); ++part)
        for (std::int64_t p = 0; p < points(); ++p, ++s)
          spectrum[s] = load_lanes(from + (p * chunk + t - first) * parts() * out + part * out + c, count);
      transform->output(spectrum, tile);
      const Lanes b = added ? load_lanes(added + offset + c, count) : Lanes{};
      const bool rectify = after && after->forward == dnnl::algorithm::eltwise_relu;
      for (std::int64_t i = 0; i < walk.edge * walk.edge; ++i) {
        tile[i] += b;
        if (rectify) tile[i] = tile[i] > Lanes{} ? tile[i] : tile[i] * after->alpha;
      }
      walk.write_results(to, t, offset + c, count, tile);
    };
    in_parts((last - first) * blocks, one, 1);
  }

  // Calls use(row, first column, count, kernel) for rows of 16 weights: w[tap, row, column].
  template <class Use>
  void each_weight(std::int64_t rows, std::int64_t columns, const Use& use) const {
    const std::int64_t blocks = (columns + image_lanes - 1) / image_lanes;
    const auto one = [&](std::int64_t number, std::int64_t) {
      const std::int64_t c = number % blocks * image_lanes;
      use(number / blocks, c, std::min<std::int64_t>(image_lanes, columns - c));
    };
    in_parts(rows * blocks, one, 1);
  }

  // The spectra of the weights of a group as matrices; complex numbers are 2 x 2 blocks, conjugated for correlation.
  void transform_weights(const float* w, float* to) const {
    const std::int64_t rows = turned ? out : in, columns = turned ? in : out,
                       taps = transform->kernel * transform->kernel;
    each_weight(rows, columns, [&](std::int64_t row, std::int64_t c, std::int64_t count) {
      Lanes kernel[16 * 16], spectrum[most_numbers];
      for (std::int64_t tap = 0; tap < taps; ++tap)
        kernel[turned ? taps - 1 - tap : tap] = load_lanes(w + (tap * rows + row) * columns + c, count);
      transform->weights(kernel, spectrum);
      const std::int64_t line = parts() * columns, matrix_size = parts() * rows * line;
      for (std::int64_t p = 0; p < points(); ++p) {
        float* const at = to + p * matrix_size + row * line + c;
        store_lanes(spectrum[p], at, count);
        if (parts() == 1) continue;
        const Lanes up = turned ? spectrum[points() + p] : -spectrum[points() + p];
        store_lanes(up, at + columns, count);
        store_lanes(-up, at + rows * line, count);
        store_lanes(spectrum[p], at + rows * line + columns, count);
      }
    });
  }

  void weights_from(const float* spectra_sum, float* dw) const {
    const std::int64_t taps = transform->kernel * transform->kernel;
    each_weight(in, out, [&](std::int64_t row, std::int64_t c, std::int64_t count) {
      Lanes kernel[16 * 16], spectrum[most_numbers];
      const std::int64_t line = parts() * out, matrix_size = parts() * in * line;
      for (std::int64_t p = 0; p < points(); ++p) {
        const float* const at = spectra_sum + p * matrix_size + row * line + c;
        spectrum[p] = load_lanes(at, count);
        if (parts() == 1) continue;
        spectrum[p] += load_lanes(at + in * line + out, count);
        spectrum[points() + p] = load_lanes(at + in * line, count) - load_lanes(at + out, count);
      }
      transform->weights_adjoint(spectrum, kernel);
      for (std::int64_t tap = 0; tap < taps; ++tap) store_lanes(kernel[tap], dw + (tap * in + row) * out + c, count);
    });
  }

  // The parts of the workspace: spectra of the image, of the results, of the weights, then scratch for the product.
  float* results_at(float* workspace) const { return workspace + spectra(in); }
  float* weights_at(float* workspace) const { return results_at(workspace) + spectra(out); }
  float* scratch_at(float* workspace) const { return weights_at(workspace) + weight_numbers(); }

  void convolve(const Moment& moment, const Gemm& gemm, const float* x, const float* w, const float* b, float* y,
                float* workspace) const {
    for (std::int64_t g = 0; g < groups; ++g) {
      transform_weights(w + g * in * out * transform->kernel * transform->kernel, weights_at(workspace));
      for (std::int64_t first = 0; first < walk.tiles(); first += chunk) {
        const std::int64_t last = std::min(first + chunk, walk.tiles());
        analyse(x, g * in, in, true, first, last, workspace);
        gemm.run(moment, workspace, weights_at(workspace), nullptr, results_at(workspace), scratch_at(workspace));
        synthesise(results_at(workspace), g * out, b, first, last, y);
      }
    }
  }

  void correlate(const Moment& moment, const Gemm& gemm, const float* x, const float* dz, float* dw,
                 float* workspace) const {
    for (std::int64_t g = 0; g < groups; ++g) {
      std::fill_n(weights_at(workspace), weight_numbers(), 0.0f);
      for (std::int64_t first = 0; first < walk.tiles(); first += chunk) {
        const std::int64_t last = std::min(first + chunk, walk.tiles());
        if (last - first < chunk) std::fill_n(workspace, spectra(in) + spectra(out), 0.0f);
        analyse(x, g * in, in, true, first, last, workspace);
        analyse(dz, g * out, out, false, first, last, results_at(workspace));
        gemm.run(moment, workspace, results_at(workspace), nullptr, weights_at(workspace), scratch_at(workspace));
      }
      weights_from(weights_at(workspace), dw + g * in * out * transform->kernel * transform->kernel);
    }
  }
};

Tiled tiled(const ConvCase& p, Direction direction, std::shared_ptr<const TileTransform> transform) {
  const TilePlane x{p.x[1], p.x[2], p.x[3]}, y{p.y[1], p.y[2], p.y[3]};
  const bool back = direction == Direction::data_gradient;
  const std::int64_t edge = transform->result, reach = transform->kernel - 1;
  const auto& before = p.window.before;
  const ImageWalk walk{p.x[0],       back ? y : x,
                       back ? x : y, {back ? reach - before[0] : before[0], back ? reach - before[1] : before[1]},
                       edge,         transform->tile()};
  const std::int64_t in = walk.image.channels / p.groups, out = walk.results.channels / p.groups;
  const std::int64_t bytes_of_tile = 4 * transform->numbers() * (in + out);
  const std::int64_t chunk = std::min(walk.tiles(), std::max<std::int64_t>(16, chunk_bytes / bytes_of_tile));
  Tiled made{std::move(transform), walk, p.groups, in, out, chunk, back};
  if (direction == Direction::forward) made.bias = p.bias, made.after = p.after;
  return made;
}

}  // namespace

bool suits_tiles(const ConvCase& p, Direction direction, int kernel) {
  if (p.window.kernel.size() != 2 || p.groups > most_tiled_groups || !p.unit_stride() || !p.dense()) return false;
  if (direction == Direction::forward && p.after && p.after->forward != dnnl::algorithm::eltwise_relu) return false;
  for (std::size_t a = 0; a < 2; ++a)
    if (p.window.kernel[a] != kernel || (direction == Direction::data_gradient && p.window.before[a] >= kernel))
      return false;
  return true;
}

Kernel conv_by_tiles(const Setting& setting, const ConvCase& p, Direction direction,
                     std::shared_ptr<const TileTransform> transform) {
  const Tiled t = tiled(p, direction, std::move(transform));
  const bool weights = direction == Direction::weight_gradient;
  const std::int64_t in = t.parts() * t.in, out = t.parts() * t.out;
  const Gemm gemm = weights ? Gemm(setting, stack(t.points(), in, t.chunk, true), stack(t.points(), t.chunk, out),
                                   stack(t.points(), in, out), {false, true, {}})
                            : Gemm(setting, stack(t.points(), t.chunk, in), stack(t.points(), in, out, t.turned),
                                   stack(t.points(), t.chunk, out));
  Kernel kernel{std::string(direction_name(direction)),
                direction == Direction::forward ? Category::forward_convolution : Category::backward_convolution};
  kernel.flops = p.flops;
  const Port workspace{{Kind::temp, first_scratch + p.temporary},
                       plain({t.spectra(t.in) + t.spectra(t.out) + t.weight_numbers() + gemm.scratch()})};
  const Layout w = weight_rows(p);
  if (direction == Direction::forward) {
    kernel.reads = {{{Kind::x, 0}, p.x_layout}, {{Kind::x, 1}, w}};
    if (p.bias) kernel.reads.push_back({{Kind::x, 2}, p.b});
    kernel.writes = {{{Kind::y, 0}, p.y_layout}, workspace};
    kernel.run = [t, gemm](const Moment& moment, std::span<const dnnl::memory> m) {
      const auto written = m.subspan(t.bias ? 3 : 2);
      t.convolve(moment, gemm, floats(m[0]), floats(m[1]), t.bias ? floats(m[2]) : nullptr, floats(written[0]),
                 floats(written[1]));
    };
  } else if (direction == Direction::data_gradient) {
    kernel.reads = {{{Kind::x, 1}, w}, {p.dz, p.y_layout}};
    kernel.writes = {{{Kind::dx, 0}, p.x_layout}, workspace};
    kernel.run = [t, gemm](const Moment& moment, std::span<const dnnl::memory> m) {
      t.convolve(moment, gemm, floats(m[1]), floats(m[0]), nullptr, floats(m[2]), floats(m[3]));
    };
  } else {
    kernel.reads = {{{Kind::x, 0}, p.x_layout}, {p.dz, p.y_layout}};
    kernel.writes = {{{Kind::dx, 1}, w}, workspace};
    if (p.bias) kernel.writes.push_back({{Kind::dx, 2}, p.b});
    kernel.run = [t, gemm, bias = p.bias](const Moment& moment, std::span<const dnnl::memory> m) {
      t.correlate(moment, gemm, floats(m[0]), floats(m[1]), floats(m[2]), floats(m[3]));
      if (bias) {
        const TilePlane& y = t.walk.results;
        sum_rows(t.walk.batch * y.height * y.width, y.channels, floats(m[1]), floats(m[4]));
      }
    };
  }
  return kernel;
}

double tile_work(const ConvCase& p, Direction direction, const TileTransform& transform) {
  const auto& r = direction == Direction::data_gradient ? p.x : p.y;
  const std::int64_t edge = transform.result;
  const std::int64_t tiles = r[0] * ((r[1] + edge - 1) / edge) * ((r[2] + edge - 1) / edge);
  return 2.0 * (tiles * transform.numbers() * transform.parts) * (p.x[-1] * p.y[-1] / p.groups);
}

}  // namespace isobar::ops
