#include "isobar/onnx/function_operator.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"

namespace isobar::onnx {

using Kind = ops::Slot::Kind;

FunctionOperator::FunctionOperator(OnnxNode node, std::int64_t version, const Function& function, std::vector<Array> in,
                                   std::vector<Array> out)
    : node_(std::move(node)), version_(version), function_(function), in_(std::move(in)), out_(std::move(out)) {}

std::vector<Shape> FunctionOperator::infer(std::span<const Shape>) const {
  std::vector<Shape> shapes;
  for (const Array& a : out_) {
    if (checked_count(a.dims, "result") == 0) fail("an output has no elements");
    shapes.push_back(graph_shape(a.dims));
  }
  return shapes;
}

ops::Kernel FunctionOperator::forward(const ops::Setting&, std::span<const ops::Operand> in) const {
  ops::Kernel kernel{"forward", Category::forward_pointwise};
  for (int i = 0; i < std::ssize(in); ++i) kernel.reads.push_back({{Kind::x, i}, plain(in[i].shape)});
  for (int o = 0; o < std::ssize(out_); ++o) kernel.writes.push_back({{Kind::y, o}, plain(graph_shape(out_[o].dims))});
  kernel.run = [self = *this](const ops::Moment&, std::span<const dnnl::memory> memories) {
    std::vector<Array> arrays = self.in_;
    std::vector<const Array*> list;
    std::size_t next = 0;
    for (Array& a : arrays) {
      if (!a.known && a.type != Type::undefined) {
        const auto* from = static_cast<const float*>(memories[next++].get_data_handle());
        a.values.assign(from, from + a.count());
        a.known = true;
      }
      list.push_back(a.type == Type::undefined ? nullptr : &a);
    }
    const std::vector<Array> results = self.function_.run({self.node_, self.version_, list});
    for (std::size_t o = 0; o < self.out_.size(); ++o) {
      expects(results[o].dims == self.out_[o].dims, "results of the dims that were inferred");
      std::transform(results[o].values.begin(), results[o].values.end(),
                     static_cast<float*>(memories[next + o].get_data_handle()),
                     [](double v) { return static_cast<float>(v); });
    }
  };
  return kernel;
}

std::vector<ops::Kernel> FunctionOperator::backward(const ops::Setting&, std::span<const ops::Operand>) const {
  fail("ONNX operator {} ('{}') has no gradient here; freeze the weights before it, or end the network before it",
       node_.op, node_.name);
}

}  // namespace isobar::onnx
