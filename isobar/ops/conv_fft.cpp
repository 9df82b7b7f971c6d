// The row `fft`: kernels from 4x4 to 15x15 by Fourier transforms of overlapping tiles: at every frequency a product of
// complex matrices, written as real matrices with twice the edges. Tiles have an edge of 16, or 32 for kernels above 7.
// Rounding differs from that of direct sums, by less than 4e-5 of the largest result in the tests.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "isobar/base/instructions.hpp"
#include "isobar/ops/conv_tiles.hpp"

namespace isobar::ops {
namespace {

constexpr int longest = 32;

// Complex Fourier transforms whose length is a power of two, for 16 channels at once; decimation in time, radix 2.
class LineTransform {
 public:
  explicit LineTransform(int length) : length_(length) {
    int bits = 0;
    while (1 << bits < length) ++bits;
    for (int i = 0; i < length; ++i) {
      int reversed = 0;
      for (int b = 0; b < bits; ++b) reversed |= (i >> b & 1) << (bits - 1 - b);
      order_[i] = reversed;
      const double angle = -2 * std::numbers::pi * i / length;
      cosine_[i] = static_cast<float>(std::cos(angle));
      sine_[i] = static_cast<float>(std::sin(angle));
    }
  }

  // In place, element i at i * step; with real and imaginary parts exchanged, it is the inverse, unscaled.
  void run(Lanes* real, Lanes* imaginary, int step) const {
    Lanes a[longest], b[longest];
    for (int i = 0; i < length_; ++i) {
      const int from = order_[i] * step;
      a[i] = real[from], b[i] = imaginary[from];
    }
    for (int half = 1; half < length_; half *= 2) {
      const int turn = length_ / (2 * half);
      for (int first = 0; first < length_; first += 2 * half)
        for (int k = 0; k < half; ++k) {
          const float c = cosine_[k * turn], s = sine_[k * turn];
          const int low = first + k, high = low + half;
          const Lanes re = a[high] * c - b[high] * s, im = a[high] * s + b[high] * c;
          a[high] = a[low] - re, b[high] = b[low] - im;
          a[low] += re, b[low] += im;
        }
    }
    for (int i = 0; i < length_; ++i) real[i * step] = a[i], imaginary[i * step] = b[i];
  }

 private:
  int length_;
  std::array<int, longest> order_{};
  std::array<float, longest> cosine_{}, sine_{};
};

class Fourier final : public TileTransform {
 public:
  Fourier(int kernel_edge, int tile_edge)
      : TileTransform(kernel_edge, tile_edge - kernel_edge + 1, tile_edge * (tile_edge / 2 + 1), 2), line_(tile_edge) {}

  void image(const Lanes* in, Lanes* out) const override { forth(in, tile(), out); }
  void weights(const Lanes* in, Lanes* out) const override { forth(in, kernel, out); }
  void output(const Lanes* in, Lanes* out) const override { back(in, result, out); }
  void output_adjoint(const Lanes* in, Lanes* out) const override { forth(in, result, out); }
  void weights_adjoint(const Lanes* in, Lanes* out) const override { back(in, kernel, out); }

 private:
  void forth(const Lanes* in, int edge, Lanes* out) const {
    run_dispatched([=, this] { analyse(in, edge, out); });
  }
  void back(const Lanes* in, int edge, Lanes* out) const {
    run_dispatched([=, this] { synthesise(in, edge, out); });
  }

  int half() const { return tile() / 2 + 1; }

  // The spectrum of `edge` x `edge` real numbers followed by zeros: rows in pairs, one as the imaginary part of the
  // other, then columns.
  void analyse(const Lanes* in, int edge, Lanes* out) const {
    const int t = tile(), h = half();
    Lanes* const real = out;
    Lanes* const imaginary = out + points;
    for (int r = 0; r < t; r += 2) {
      Lanes a[longest]{}, b[longest]{};
      for (int c = 0; c < edge && r < edge; ++c) {
        a[c] = in[r * edge + c];
        if (r + 1 < edge) b[c] = in[(r + 1) * edge + c];
      }
      if (r < edge) line_.run(a, b, 1);
      for (int f = 0; f < h; ++f) {
        const int g = (t - f) % t;
        real[r * h + f] = (a[f] + a[g]) * 0.5f, imaginary[r * h + f] = (b[f] - b[g]) * 0.5f;
        real[(r + 1) * h + f] = (b[f] + b[g]) * 0.5f, imaginary[(r + 1) * h + f] = (a[g] - a[f]) * 0.5f;
      }
    }
    for (int f = 0; f < h; ++f) line_.run(real + f, imaginary + f, h);
  }

  void synthesise(const Lanes* in, int edge, Lanes* out) const {
    const int t = tile(), h = half();
    Lanes real[longest * (longest / 2 + 1)], imaginary[longest * (longest / 2 + 1)];
    std::copy_n(in, points, real);
    std::copy_n(in + points, points, imaginary);
    for (int f = 0; f < h; ++f) line_.run(imaginary + f, real + f, h);  // exchanged: the inverse
    const float scale = 1.0f / static_cast<float>(t * t);
    for (int r = 0; r < edge; r += 2) {
      Lanes a[longest], b[longest];
      const int s = (r + 1) * h;  // this row exists: edges are below t, which is even
      for (int f = 0; f < h; ++f) {
        const Lanes re0 = real[r * h + f], im0 = imaginary[r * h + f], re1 = real[s + f], im1 = imaginary[s + f];
        a[f] = re0 - im1, b[f] = im0 + re1;
        if (f > 0 && f < t / 2) a[t - f] = re0 + im1, b[t - f] = re1 - im0;
      }
      line_.run(b, a, 1);
      for (int c = 0; c < edge; ++c) {
        out[r * edge + c] = a[c] * scale;
        if (r + 1 < edge) out[(r + 1) * edge + c] = b[c] * scale;
      }
    }
  }

  LineTransform line_;
};

bool suits(const ConvCase& p, Direction direction) {
  const std::int64_t k = p.window.kernel.empty() ? 0 : p.window.kernel[0];
  return k >= 4 && k <= 15 && suits_tiles(p, direction, k);
}

std::shared_ptr<const TileTransform> transform(const ConvCase& p) {
  const int k = p.window.kernel[0];
  return std::make_shared<Fourier>(k, k <= 7 ? 16 : longest);
}

}  // namespace

extern const ConvMethod conv_fft{
    "fft",
    "kernels from 4x4 to 15x15 of stride 1 by Fourier transforms of tiles",
    [](const Setting& setting, const ConvCase& p, Direction direction) -> std::optional<std::vector<Kernel>> {
      if (!suits(p, direction)) return std::nullopt;
      return one_kernel(conv_by_tiles(setting, p, direction, transform(p)));
    },
    [](const ConvCase&, Direction) { return false; },
    false,
    [](const ConvCase& p, Direction direction) { return tile_work(p, direction, *transform(p)); }};

}  // namespace isobar::ops
