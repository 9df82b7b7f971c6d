// The ways to compute a convolution, as a table: one file, one row, one test each. The rows are in order of preference
// if nothing was measured; tuning chooses among all that apply.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "isobar/base/row.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/tuning.hpp"
#include "isobar/ops/window.hpp"

namespace isobar::ops {

/// One convolution, fitted to its input, as a method sees it. Slots: x 0 is the input, x 1 the weight, x 2 the bias.
struct ConvCase {
  Window window;
  Shape x, y;                        ///< [N, spatial..., C] and [N, spatial..., O]
  Layout x_layout, y_layout;         ///< channels last
  Layout w;                          ///< any layout of [O, C, kernel...] or [groups, O/groups, C/groups, kernel...]
  Layout b;                          ///< [O]; empty without bias
  Layout stored{};                   ///< the layout of the weight in the store; empty while undecided
  std::int64_t groups = 1;           ///< groups of channels
  bool bias = false;                 ///< forward adds it; the weight gradient writes its gradient too
  std::optional<Pointwise> after{};  ///< applied by the forward kernel to its result
  Slot dz{Slot::Kind::dy, 0};        ///< where backward kernels read the gradient before `after`
  Phase phase = Phase::training;
  int temporary = 1;  ///< the first of 10 temporaries, and of 10 scratchpads, that this direction may use
  double flops = 0;   ///< of the sums as written, whatever the method does

  /// The same convolution of `samples` samples.
  ConvCase of(std::int64_t samples) const;
  bool dense() const;        ///< dilation 1 along all axes
  bool unit_stride() const;  ///< stride 1 along all axes
};

/// A way to compute convolutions.
struct ConvMethod {
  std::string_view name;
  std::string_view summary;
  /// The kernels of one direction (forward: one kernel), or nothing if the method does not apply.
  std::optional<std::vector<Kernel>> (*make)(const Setting&, const ConvCase&, Direction);
  /// Whether it is used, if it applies, when nothing was measured.
  bool (*preferred)(const ConvCase&, Direction);
  bool exact = true;  ///< false: other arithmetic, used only if requested or allowed while tuning
  /// Additions and multiplications it actually executes; null: ConvCase::flops.
  double (*work)(const ConvCase&, Direction) = nullptr;
};

/// All methods, in order of preference; "direct" always applies.
Table<ConvMethod> conv_methods();

/// The kernels of one direction: by the methods measured to be best, if they apply, or else by the first preferred
/// method that applies. Without own_kernels it is oneDNN's.
std::vector<Kernel> conv_kernels(const Setting& setting, const ConvCase& problem, Direction direction);

/// The convolution that `op` computes with these operands; nothing if `op` is no convolution.
std::optional<ConvCase> conv_case(const Operator& op, std::span<const Operand> in, Phase phase);

/// Turns one kernel, or none, into what a row's `make` returns.
std::optional<std::vector<Kernel>> one_kernel(std::optional<Kernel> kernel);

/// The weight with outputs innermost, as a matrix [taps * C, O] for every group, for matrix products.
Layout weight_rows(const ConvCase& problem);

/// "forward", "data gradient", "weight gradient".
std::string_view direction_name(Direction direction);

}  // namespace isobar::ops
