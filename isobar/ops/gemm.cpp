#include "isobar/ops/gemm.hpp"

#include <unordered_map>

#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

dnnl::matmul::primitive_desc descriptor(const Setting& setting, const Layout& left, const Layout& right,
                                        const Layout& result, const Gemm::Extra& extra) {
  dnnl::primitive_attr attributes = own_scratchpad();
  dnnl::post_ops after;
  if (extra.add) after.append_sum(1.0f);
  if (extra.after) after.append_eltwise(1.0f, extra.after->forward, extra.after->alpha, extra.after->beta);
  if (after.len() > 0) attributes.set_post_ops(after);
  std::vector<std::int64_t> bias(result.data.ndims, 1);
  bias.back() = result.data.dims[result.data.ndims - 1];
  return planned("product of matrices", [&] {
    const dnnl::matmul::desc desc = extra.bias ? dnnl::matmul::desc(left, right, plain(Shape(bias)), result)
                                               : dnnl::matmul::desc(left, right, result);
    return dnnl::matmul::primitive_desc(desc, attributes, setting.engine);
  });
}

// oneDNN's memory does not accept a pointer to const; matmul does not write to its inputs.
void* address(const float* p) { return const_cast<float*>(p); }

}  // namespace

Gemm::Gemm(const Setting& setting, const Layout& left, const Layout& right, const Layout& result, const Extra& extra)
    : chosen_(descriptor(setting, left, right, result, extra)),
      primitive_(chosen_),
      bias_(extra.bias),
      scratch_((chosen_.scratchpad_desc().get_size() + sizeof(float) - 1) / sizeof(float)) {}

void Gemm::run(const Moment& moment, const float* left, const float* right, const float* bias, float* result,
               float* scratch) const {
  dnnl::stream stream = moment.stream;
  const dnnl::engine engine = stream.get_engine();
  std::unordered_map<int, dnnl::memory> arguments{{DNNL_ARG_SRC, {chosen_.src_desc(), engine, address(left)}},
                                                  {DNNL_ARG_WEIGHTS, {chosen_.weights_desc(), engine, address(right)}},
                                                  {DNNL_ARG_DST, {chosen_.dst_desc(), engine, result}},
                                                  {DNNL_ARG_SCRATCHPAD, {chosen_.scratchpad_desc(), engine, scratch}}};
  if (bias_) arguments.emplace(DNNL_ARG_BIAS, dnnl::memory(chosen_.bias_desc(), engine, address(bias)));
  primitive_.execute(stream, arguments);
  stream.wait();
}

Layout matrix(std::int64_t rows, std::int64_t columns, std::int64_t row_step, std::int64_t column_step) {
  return Layout({rows, columns}, Dtype::f32, dnnl::memory::dims{row_step, column_step});
}

}  // namespace isobar::ops
