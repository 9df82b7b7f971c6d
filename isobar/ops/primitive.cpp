#include "isobar/ops/primitive.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "isobar/ops/pieces.hpp"

namespace isobar::ops {
namespace {

// oneDNN 2.6 gathers the pixels that a strided 1x1 convolution reads, whole vectors at a time. With fewer channels than
// a vector holds, it writes beyond its scratchpad: memory there is overwritten, and with two threads the weight
// gradient is wrong or never ends.
bool overruns(const dnnl_convolution_desc_t& desc, std::string_view implementation) {
  constexpr dnnl_dim_t longest_vector = 16;
  const dnnl_memory_desc_t& w = desc.diff_weights_desc;
  const int axes = desc.src_desc.ndims - 2, first = w.ndims - axes;  // after groups, outputs and inputs
  const bool point = std::all_of(w.dims + first, w.dims + w.ndims, [](dnnl_dim_t k) { return k == 1; });
  const bool strided = std::any_of(desc.strides, desc.strides + axes, [](dnnl_dim_t s) { return s > 1; });
  return point && strided && w.dims[first - 1] < longest_vector && implementation.starts_with("jit_1x1");
}

}  // namespace

dnnl::primitive_attr own_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

dnnl::primitive_attr with_post_op(const std::optional<Pointwise>& f) {
  dnnl::primitive_attr attributes = own_scratchpad();
  if (f) {
    dnnl::post_ops after;
    after.append_eltwise(1.0f, f->forward, f->alpha, f->beta);
    attributes.set_post_ops(after);
  }
  return attributes;
}

dnnl::convolution_backward_weights::primitive_desc weight_gradient_descriptor(
    const dnnl::convolution_backward_weights::desc& desc, const dnnl::engine& engine,
    const dnnl::convolution_forward::primitive_desc& hint) {
  dnnl::convolution_backward_weights::primitive_desc chosen(desc, own_scratchpad(), engine, hint);
  while (overruns(desc.data, chosen.impl_info_str()))
    if (!chosen.next_impl()) fail("oneDNN's weight gradient of a strided 1x1 convolution would overrun its memory");
  return chosen;
}

Kernel primitive_kernel(std::string name, Category category, const dnnl::primitive& primitive, const Layout& scratch,
                        int scratch_index, std::vector<Argument> reads, std::vector<Argument> writes, double flops) {
  if (scratch.get_size() > 0)
    writes.push_back({DNNL_ARG_SCRATCHPAD, {{Slot::Kind::temp, first_scratch + scratch_index}, scratch}});
  Kernel kernel{std::move(name), category};
  kernel.flops = flops;
  kernel.library = true;
  std::vector<int> ids;
  for (const Argument& a : reads) ids.push_back(a.id), kernel.reads.push_back(a.port);
  for (const Argument& a : writes) ids.push_back(a.id), kernel.writes.push_back(a.port);
  kernel.run = [primitive, ids](const Moment& moment, std::span<const dnnl::memory> memories) {
    std::unordered_map<int, dnnl::memory> arguments;
    for (std::size_t i = 0; i < ids.size(); ++i) arguments.emplace(ids[i], memories[i]);
    primitive.execute(moment.stream, arguments);
  };
  return kernel;
}

Slot gradient_through(const std::optional<Pointwise>& f, const Setting& setting, const Layout& y,
                      std::vector<Kernel>& list) {
  if (!f) return {Slot::Kind::dy, 0};
  const Slot dz{Slot::Kind::temp, 0};
  if (setting.own_kernels && f->forward == dnnl::algorithm::eltwise_relu) {
    Kernel kernel{"activation gradient", Category::backward_pointwise};
    kernel.reads = {{{Slot::Kind::y, 0}, y}, {{Slot::Kind::dy, first_pieces}, y}};
    kernel.writes = {{dz, y, 1}};
    kernel.flops = 2.0 * padded_count(y);
    kernel.run = [slope = f->alpha](const Moment&, std::span<const dnnl::memory> m) {
      add_pieces(m.subspan(1, m.size() - 2), floats(m[0]), slope, floats(m.back()));
    };
    list.push_back(std::move(kernel));
    return dz;
  }
  const auto chosen = planned("gradient of an activation", [&] {
    const dnnl::eltwise_forward::desc forward(dnnl::prop_kind::forward_training, f->forward, y, f->alpha, f->beta);
    const dnnl::eltwise_forward::primitive_desc hint(forward, setting.engine);
    const dnnl::eltwise_backward::desc backward(f->backward, y, y, f->alpha, f->beta);
    return dnnl::eltwise_backward::primitive_desc(backward, own_scratchpad(), setting.engine, hint);
  });
  list.push_back(primitive_kernel(
      "activation gradient", Category::backward_pointwise, dnnl::eltwise_backward(chosen), chosen.scratchpad_desc(), 0,
      {{DNNL_ARG_DST, {{Slot::Kind::y, 0}, y}}, {DNNL_ARG_DIFF_DST, {{Slot::Kind::dy, 0}, y}}},
      {{DNNL_ARG_DIFF_SRC, {dz, y, 1}}}, 2.0 * padded_count(y)));
  return dz;
}

}  // namespace isobar::ops
