// FunctionOperator: an ONNX operator that the catalogue lacks, run forward inside the graph by its Function. It keeps
// the original node, so that the network can be exported unchanged.
#pragma once

#include "isobar/onnx/function.hpp"
#include "isobar/ops/op.hpp"

namespace isobar::onnx {

class FunctionOperator final : public ops::Operator {
 public:
  /// `in` describes all inputs of the node: those with numbers are fixed, those of undefined type are omitted, the
  /// others are read from the graph in this order. `out` has the types and dims of the outputs.
  FunctionOperator(OnnxNode node, std::int64_t version, const Function& function, std::vector<Array> in,
                   std::vector<Array> out);

  int arity() const override { return -1; }
  std::vector<Shape> infer(std::span<const Shape> in) const override;
  ops::Kernel forward(const ops::Setting& setting, std::span<const ops::Operand> in) const override;
  /// Throws Error: there is no gradient.
  std::vector<ops::Kernel> backward(const ops::Setting& setting, std::span<const ops::Operand> in) const override;

  const OnnxNode& node() const { return node_; }
  std::int64_t version() const { return version_; }
  std::span<const Array> inputs() const { return in_; }
  std::span<const Array> outputs() const { return out_; }

 private:
  OnnxNode node_;
  std::int64_t version_;
  const Function& function_;
  std::vector<Array> in_, out_;
};

}  // namespace isobar::onnx
