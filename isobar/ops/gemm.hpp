// Gemm: a product of matrices, or of stacks of matrices, inside our own kernels; oneDNN's matmul on plain pointers.
#pragma once

#include <cstdint>
#include <optional>

#include "isobar/ops/op.hpp"

namespace isobar::ops {

class Gemm {
 public:
  struct Extra {
    bool bias = false;                 ///< one number per column is added
    bool add = false;                  ///< the product is added to the previous result
    std::optional<Pointwise> after{};  ///< applied to the result
  };

  /// result = left * right, given by their layouts: [rows, inner] * [inner, columns], or stacks [count, ...] of these.
  Gemm(const Setting& setting, const Layout& left, const Layout& right, const Layout& result, const Extra& extra);
  Gemm(const Setting& setting, const Layout& left, const Layout& right, const Layout& result)
      : Gemm(setting, left, right, result, Extra{}) {}

  /// How many floats of scratch memory a run needs.
  std::int64_t scratch() const { return scratch_; }
  /// Waits until the result is complete; `bias` and `scratch` may be null if not needed.
  void run(const Moment& moment, const float* left, const float* right, const float* bias, float* result,
           float* scratch) const;

 private:
  dnnl::matmul::primitive_desc chosen_;
  dnnl::matmul primitive_;
  bool bias_;
  std::int64_t scratch_;
};

/// The layout of a matrix whose element (r, c) is at r * row_step + c * column_step.
Layout matrix(std::int64_t rows, std::int64_t columns, std::int64_t row_step, std::int64_t column_step = 1);

}  // namespace isobar::ops
