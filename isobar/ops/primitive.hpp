// The interface to oneDNN's primitives: user-owned scratchpads declared as ports, and errors that say what was planned.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "isobar/base/error.hpp"
#include "isobar/ops/op.hpp"

namespace isobar::ops {

/// One port of a primitive with oneDNN's number for the argument (DNNL_ARG_SRC, ...).
struct Argument {
  int id;
  Port port;
};

/// Attributes every primitive starts from: the scratchpad is ours.
dnnl::primitive_attr own_scratchpad();

/// Attributes with `f` applied to the result.
dnnl::primitive_attr with_post_op(const std::optional<Pointwise>& f);

/// How oneDNN is to plan a forward pass.
inline dnnl::prop_kind forward_kind(Phase phase) {
  return phase == Phase::training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
}

/// Runs `make` and turns an error of oneDNN into an Error that says what was planned.
template <class Make>
auto planned(const std::string& what, Make&& make) {
  try {
    return make();
  } catch (const dnnl::error& e) {
    fail("{}: oneDNN has no implementation ({})", what, e.what());
  }
}

/// The weight gradient of a convolution, by the first of oneDNN's implementations that stays within its scratchpad.
dnnl::convolution_backward_weights::primitive_desc weight_gradient_descriptor(
    const dnnl::convolution_backward_weights::desc& desc, const dnnl::engine& engine,
    const dnnl::convolution_forward::primitive_desc& hint);

/// A kernel that runs one primitive; the scratchpad becomes the temporary number `scratch_index`.
Kernel primitive_kernel(std::string name, Category category, const dnnl::primitive& primitive, const Layout& scratch,
                        int scratch_index, std::vector<Argument> reads, std::vector<Argument> writes, double flops);

/// Where a backward pass finds dz, the gradient before an absorbed function f. With f, appends the kernel that writes
/// dz = dy * f'(y) to temporary 0, in place of dy where possible; without f, dz is dy.
Slot gradient_through(const std::optional<Pointwise>& f, const Setting& setting, const Layout& y,
                      std::vector<Kernel>& list);

/// The floats of a memory.
inline float* floats(const dnnl::memory& memory) { return static_cast<float*>(memory.get_data_handle()); }

inline constexpr int first_scratch = 1000;  ///< temporaries from here on are scratchpads

}  // namespace isobar::ops
