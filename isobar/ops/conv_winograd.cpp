// The rows `winograd` and `winograd2`: 3x3 kernels by Winograd's minimal filtering (Lavin and Gray, 2015).
//   F(4x4, 3x3): 36 products for 16 results instead of 144; F(2x2, 3x3): 16 for 4 instead of 36.
// Results differ from direct sums by rounding, by less than 4e-5 of the largest in the tests; F(4x4), whose transforms
// have coefficients from 1/24 to 8, differs more than F(2x2).
#include <utility>

#include "isobar/base/instructions.hpp"
#include "isobar/ops/conv_tiles.hpp"

namespace isobar::ops {
namespace {

template <int rows, int columns>
struct Coefficients {
  float at[rows][columns];
  constexpr Coefficients<columns, rows> turned() const {
    Coefficients<columns, rows> t{};
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) t.at[c][r] = at[r][c];
    return t;
  }
};

// out = sum over c of m[r][c] * in[c * in_step]; coefficients are compile-time constants, so zeros cost nothing.
template <const auto& m, int r, int columns>
inline void row_times(const Lanes* in, int in_step, Lanes& out) {
  [&]<int... c>(std::integer_sequence<int, c...>) {
    Lanes sum{};
    const auto add = [&]<int k>(std::integral_constant<int, k>) {
      constexpr float f = m.at[r][k];
      if constexpr (f == 1) sum += in[k * in_step];
      else if constexpr (f == -1) sum -= in[k * in_step];
      else if constexpr (f != 0) sum += in[k * in_step] * f;
    };
    (add(std::integral_constant<int, c>{}), ...);
    out = sum;
  }
  (std::make_integer_sequence<int, columns>{});
}

template <const auto& m, int rows, int columns>
inline void times(const Lanes* in, int in_step, Lanes* out, int out_step) {
  [&]<int... r>(std::integer_sequence<int, r...>) { (row_times<m, r, columns>(in, in_step, out[r * out_step]), ...); }
  (std::make_integer_sequence<int, rows>{});
}

// out = m in m^T, in [columns, columns], out [rows, rows].
template <const auto& m, int rows, int columns>
inline void both_sides(const Lanes* in, Lanes* out) {
  Lanes half[rows * columns];
  for (int c = 0; c < columns; ++c) times<m, rows, columns>(in + c, columns, half + c, columns);
  for (int r = 0; r < rows; ++r) times<m, rows, columns>(half + r * columns, 1, out + r * rows, 1);
}

struct F4 {
  static constexpr int result = 4;
  static constexpr Coefficients<6, 6> image{{{4, 0, -5, 0, 1, 0},
                                             {0, -4, -4, 1, 1, 0},
                                             {0, 4, -4, -1, 1, 0},
                                             {0, -2, -1, 2, 1, 0},
                                             {0, 2, -1, -2, 1, 0},
                                             {0, 4, 0, -5, 0, 1}}};
  static constexpr Coefficients<6, 3> weights{{{1.0f / 4, 0, 0},
                                               {-1.0f / 6, -1.0f / 6, -1.0f / 6},
                                               {-1.0f / 6, 1.0f / 6, -1.0f / 6},
                                               {1.0f / 24, 1.0f / 12, 1.0f / 6},
                                               {1.0f / 24, -1.0f / 12, 1.0f / 6},
                                               {0, 0, 1}}};
  static constexpr Coefficients<4, 6> output{
      {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}}};
};

struct F2 {
  static constexpr int result = 2;
  static constexpr Coefficients<4, 4> image{{{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}}};
  static constexpr Coefficients<4, 3> weights{{{1, 0, 0}, {0.5f, 0.5f, 0.5f}, {0.5f, -0.5f, 0.5f}, {0, 0, 1}}};
  static constexpr Coefficients<2, 4> output{{{1, 1, 1, 0}, {0, 1, -1, -1}}};
};

template <class F>
class Winograd final : public TileTransform {
 public:
  static constexpr int edge = F::result + 2;
  Winograd() : TileTransform(3, F::result, edge * edge, 1) {}

  void image(const Lanes* in, Lanes* out) const override {
    run_dispatched([=] { both_sides<F::image, edge, edge>(in, out); });
  }
  void weights(const Lanes* in, Lanes* out) const override {
    run_dispatched([=] { both_sides<F::weights, edge, 3>(in, out); });
  }
  void output(const Lanes* in, Lanes* out) const override {
    run_dispatched([=] { both_sides<F::output, F::result, edge>(in, out); });
  }
  void output_adjoint(const Lanes* in, Lanes* out) const override {
    run_dispatched([=] { both_sides<output_turned, edge, F::result>(in, out); });
  }
  void weights_adjoint(const Lanes* in, Lanes* out) const override {
    run_dispatched([=] { both_sides<weights_turned, 3, edge>(in, out); });
  }

 private:
  static constexpr auto output_turned = F::output.turned();
  static constexpr auto weights_turned = F::weights.turned();
};

template <class F>
std::optional<std::vector<Kernel>> make_winograd(const Setting& setting, const ConvCase& p, Direction direction) {
  if (!suits_tiles(p, direction, 3)) return std::nullopt;
  return one_kernel(conv_by_tiles(setting, p, direction, std::make_shared<Winograd<F>>()));
}

template <class F>
double work(const ConvCase& p, Direction direction) {
  return tile_work(p, direction, Winograd<F>());
}

bool never(const ConvCase&, Direction) { return false; }

}  // namespace

extern const ConvMethod conv_winograd{
    "winograd", "3x3 kernels of stride 1 with a quarter of the products, tiles of 4x4", make_winograd<F4>, never, false,
    work<F4>};

extern const ConvMethod conv_winograd2{
    "winograd2", "the same with tiles of 2x2: more products, better rounding", make_winograd<F2>, never, false,
    work<F2>};

}  // namespace isobar::ops
