// Pool: a window slides over 1 to 3 spatial axes and yields one number per channel; shared by max_pool and
// average_pool. Windows that cover every number once use our own loops (pool_tiles.hpp), the others oneDNN. For oneDNN,
// a last window that reaches beyond the padding (`ceil`) is padded further; where padding counts in a mean, oneDNN
// counts this padding too, so the mean is corrected.
#pragma once

#include "isobar/ops/op.hpp"
#include "isobar/ops/pool_tiles.hpp"
#include "isobar/ops/window.hpp"

namespace isobar::ops {

/// y[n, p, c] = f(the maximum or mean of x[n, window at p, c]), with a fused f; for maxima, their places are saved.
class Pool final : public Operator {
 public:
  Pool(Args& args, dnnl::algorithm algorithm) : window_(args, "window", true), algorithm_(algorithm) {}

  std::vector<Shape> infer(std::span<const Shape> in) const override;
  Kernel forward(const Setting& setting, std::span<const Operand> in) const override;
  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override;
  bool selects_maximum() const override { return algorithm_ == dnnl::algorithm::pooling_max; }
  std::shared_ptr<const Operator> absorb(const Pointwise& next) const override;

 private:
  Window fit(const Shape& x) const;
  std::optional<PoolTiles> own_tiles(const Setting& setting, const Shape& x) const;
  Kernel own_forward(PoolTiles tiles, bool training, const Shape& x) const;
  Kernel own_backward(PoolTiles tiles, const Shape& x) const;
  std::vector<float> corrections(const Shape& x) const;
  dnnl::pooling_v2_forward::primitive_desc forward_descriptor(const Setting& setting, const Shape& x) const;

  WindowSpec window_;
  dnnl::algorithm algorithm_;
  std::optional<Pointwise> after_;
};

}  // namespace isobar::ops
