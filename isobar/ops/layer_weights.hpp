// Arguments of layers about their weight and bias: initial values, and factors of the learning rate and decay, as in
// Caffe.
#pragma once

#include "isobar/ops/op.hpp"

namespace isobar::ops {

class LayerWeights {
 public:
  /// Reads bias, init, bias_init, decay, bias_rate and bias_decay.
  explicit LayerWeights(Args& args)
      : bias_(args.flag("bias", true)),
        init_(args.spec("init", "glorot_uniform")),
        bias_init_(args.spec("bias_init", "constant(value=0)")),
        decay_(args.real("decay", 1)),
        bias_rate_(args.real("bias_rate", 1)),
        bias_decay_(args.real("bias_decay", 1)) {
    args.require(decay_ >= 0 && bias_rate_ >= 0 && bias_decay_ >= 0,
                 "decay, bias_rate and bias_decay multiply and must not be negative");
  }

  bool bias() const { return bias_; }

  /// The weight "w" of this shape and, if there is one, the bias "b" of `outputs` numbers.
  std::vector<Parameter> parameters(Shape w, std::int64_t outputs) const {
    std::vector<Parameter> list{{"w", std::move(w), init_, true, 1, decay_}};
    if (bias_) list.push_back({"b", {outputs}, bias_init_, true, bias_rate_, bias_decay_});
    return list;
  }

 private:
  bool bias_;
  Spec init_, bias_init_;
  double decay_, bias_rate_, bias_decay_;
};

}  // namespace isobar::ops
