// lstm: long short-term memory over the steps of a sequence, forward, reverse or both.
//   i, f, o = logistic(W x_t + R h_{t-1} + b), g = tanh(the same) by gate (i, f, g, o);  f has forget_bias added inside
//   c_t = f * c_{t-1} + i * g;  h_t = o * tanh(c_t);  backward: the chain rule, from the last step to the first
// x [N, T, F], h0, c0 [D, N, U] (both or none); w [D, 4U, F], r [D, 4U, U], b [D, 4U]. Outputs: y, all h_t [N, T,
// D*U], or the last of each direction [N, D*U] if sequence=false; the last h and c [D, N, U]. Products with the inputs
// of all steps are one product; oneDNN's own lstm wants weights in two layouts that no plain weight has.
#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/ops/lstm_direction.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class Lstm final : public Operator {
 public:
  explicit Lstm(Args& args)
      : units_(args.integer("units")),
        sequence_(args.flag("sequence", true)),
        bias_(args.flag("bias", true)),
        init_(args.spec("init", "glorot_uniform")),
        recurrent_init_(args.spec("recurrent_init", "glorot_uniform")),
        bias_init_(args.spec("bias_init", "constant(value=0)")),
        forget_bias_(args.real("forget_bias", 0)) {
    const std::string direction = args.one_of("direction", "forward", {"forward", "reverse", "bidirectional"});
    reverse_first_ = direction == "reverse";
    directions_ = direction == "bidirectional" ? 2 : 1;
    args.require(units_ >= 1, "units must be at least 1");
  }

  int arity() const override { return -1; }

  std::vector<Parameter> parameters(std::span<const Shape> in) const override {
    check(in);
    std::vector<Parameter> list{{"w", {directions_, 4 * units_, in[0][2]}, init_},
                                {"r", {directions_, 4 * units_, units_}, recurrent_init_}};
    list[0].fans = {4 * units_, in[0][2]};  // of one direction
    list[1].fans = {4 * units_, units_};
    if (bias_) list.push_back({"b", {directions_, 4 * units_}, bias_init_});
    return list;
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    const std::size_t weights = bias_ ? 3 : 2;
    if (in.size() <= weights) fail("takes x, or x, h0 and c0, and {} weights; {} given", weights, in.size());
    const auto data = in.first(in.size() - weights);
    const std::vector<Parameter> wanted = parameters(data);
    for (std::size_t i = 0; i < weights; ++i)
      if (in[data.size() + i] != wanted[i].shape)
        fail("x = {} does not fit {} = {}; it must be {}", in[0].str(), wanted[i].name, in[data.size() + i].str(),
             wanted[i].shape.str());
    const Shape last{directions_, in[0][0], units_};
    const std::int64_t width = directions_ * units_;
    return {sequence_ ? Shape{in[0][0], in[0][1], width} : Shape{in[0][0], width}, last, last};
  }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    const Places at = places(in);
    const Kind kept = setting.phase == Phase::training ? Kind::saved : Kind::temp;
    Kernel kernel{"forward", Category::forward_convolution};
    kernel.flops = flops(in[0].shape);
    for (int i = 0; i < std::ssize(in); ++i) kernel.reads.push_back({{Kind::x, i}, plain(in[i].shape)});
    for (int i = 0; i < 3; ++i) kernel.writes.push_back({{Kind::y, i}, plain(at.out[i])});
    kernel.writes.push_back({{kept, 0}, at.gates});
    kernel.writes.push_back({{kept, 1}, at.cells});
    if (!sequence_) kernel.writes.push_back({{kept, 2}, at.hidden});
    kernel.run = [op = *this, at, x = in[0].shape](const Moment&, std::span<const dnnl::memory> m) {
      float* const hidden = floats(m[at.inputs + (op.sequence_ ? 0 : 5)]);
      for (std::int64_t d = 0; d < op.directions_; ++d) {
        const LstmCase p = op.one(x, d);
        const LstmData data = op.data(p, d, at, m, floats(m[at.inputs + 3]), floats(m[at.inputs + 4]), hidden);
        lstm_forward(p, data);
        op.write_last(p, d, data, m.subspan(at.inputs));
      }
    };
    return kernel;
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    const Places at = places(in);
    Kernel kernel{"backward", Category::backward_convolution};
    kernel.flops = 2 * flops(in[0].shape);
    for (int i = 0; i < std::ssize(in); ++i) kernel.reads.push_back({{Kind::x, i}, plain(in[i].shape)});
    for (int i = 0; i < 3; ++i) kernel.reads.push_back({{Kind::dy, i}, plain(at.out[i])});
    kernel.reads.push_back({{Kind::saved, 0}, at.gates});
    kernel.reads.push_back({{Kind::saved, 1}, at.cells});
    kernel.reads.push_back({sequence_ ? Slot{Kind::y, 0} : Slot{Kind::saved, 2}, at.hidden});
    for (int i = 0; i < std::ssize(in); ++i) kernel.writes.push_back({{Kind::dx, i}, plain(in[i].shape)});
    const Shape& x = in[0].shape;
    kernel.writes.push_back({{Kind::temp, 0}, plain({x[0], x[1], 4 * units_})});
    kernel.writes.push_back({{Kind::temp, 1}, plain({x[0], x[1], units_})});
    kernel.writes.push_back({{Kind::temp, 2}, plain({2, directions_, x[0], units_})});
    kernel.run = [op = *this, at, x](const Moment&, std::span<const dnnl::memory> m) {
      for (std::int64_t d = 0; d < op.directions_; ++d) {
        const LstmCase p = op.one(x, d);
        const LstmData data =
            op.data(p, d, at, m, floats(m[at.inputs + 3]), floats(m[at.inputs + 4]), floats(m[at.inputs + 5]));
        lstm_backward(p, data, op.gradients(p, d, at, m));
      }
    };
    return {kernel};
  }

 private:
  // Positions among the memories of a kernel, which begin with all inputs.
  struct Places {
    std::size_t inputs, weights;  // number of inputs, and of the first weight
    std::vector<Shape> out;
    Layout gates, cells, hidden;
  };

  void check(std::span<const Shape> in) const {
    if (in.size() != 1 && in.size() != 3) fail("takes x, or x, h0 and c0; {} inputs given", in.size());
    if (in[0].rank() != 3) fail("x = {} must be [batch, steps, features]", in[0].str());
    const Shape state{directions_, in[0][0], units_};
    for (std::size_t i = 1; i < in.size(); ++i)
      if (in[i] != state) fail("{} = {} must be {}", i == 1 ? "h0" : "c0", in[i].str(), state.str());
  }

  Places places(std::span<const Operand> in) const {
    std::vector<Shape> shapes;
    for (const Operand& o : in) shapes.push_back(o.shape);
    const Shape& x = in[0].shape;
    return {in.size(),
            in.size() - (bias_ ? 3 : 2),
            infer(shapes),
            plain({directions_, x[0], x[1], 4 * units_}),
            plain({directions_, x[0], x[1], units_}),
            plain({x[0], x[1], directions_ * units_})};
  }

  LstmCase one(const Shape& x, std::int64_t direction) const {
    return {x[0],
            x[1],
            x[2],
            units_,
            directions_ * units_,
            reverse_first_ || direction == 1,
            static_cast<float>(forget_bias_)};
  }

  double flops(const Shape& x) const { return 2.0 * (directions_ * x[0] * x[1]) * (4 * units_ * (x[2] + units_)); }

  LstmData data(const LstmCase& p, std::int64_t d, const Places& at, std::span<const dnnl::memory> m, float* gates,
                float* cells, float* hidden) const {
    const std::int64_t state = d * p.batch * units_, rows = d * p.batch * p.steps;
    const bool given = at.weights == 3;
    return {floats(m[0]),
            floats(m[at.weights]) + d * 4 * units_ * p.features,
            floats(m[at.weights + 1]) + d * 4 * units_ * units_,
            bias_ ? floats(m[at.weights + 2]) + d * 4 * units_ : nullptr,
            given ? floats(m[1]) + state : nullptr,
            given ? floats(m[2]) + state : nullptr,
            gates + rows * 4 * units_,
            cells + rows * units_,
            hidden + d * units_};
  }

  // Writes the state after the last step; also to y, unless that is the whole sequence.
  void write_last(const LstmCase& p, std::int64_t d, const LstmData& data, std::span<const dnnl::memory> out) const {
    const std::int64_t t = p.time(p.steps - 1);
    for (std::int64_t n = 0; n < p.batch; ++n) {
      const float* const hidden = data.hidden + (n * p.steps + t) * p.y_width;
      const std::int64_t state = (d * p.batch + n) * units_;
      std::copy_n(hidden, units_, floats(out[1]) + state);
      std::copy_n(data.cells + (n * p.steps + t) * units_, units_, floats(out[2]) + state);
      if (!sequence_) std::copy_n(hidden, units_, floats(out[0]) + n * p.y_width + d * units_);
    }
  }

  LstmGradients gradients(const LstmCase& p, std::int64_t d, const Places& at, std::span<const dnnl::memory> m) const {
    const std::int64_t state = d * p.batch * units_;
    const float* const dy = floats(m[at.inputs]);
    const std::size_t first = at.inputs + 6;  // the writes: gradients of all inputs, then scratch memory
    const auto room = m.subspan(first + at.inputs);
    const bool given = at.weights == 3;
    float *const states = floats(room[2]), *const others = states + directions_ * p.batch * units_;
    const float* dh = floats(m[at.inputs + 1]) + state;
    if (!sequence_) {  // y is the last h under another name: its gradient is the sum of both
      for (std::int64_t n = 0; n < p.batch; ++n)
        for (std::int64_t u = 0; u < units_; ++u)
          states[state + n * units_ + u] = dh[n * units_ + u] + dy[n * p.y_width + d * units_ + u];
      dh = states + state;
    }
    return {sequence_ ? dy + d * units_ : nullptr,
            dh,
            floats(m[at.inputs + 2]) + state,
            floats(m[first]),
            floats(m[first + at.weights]) + d * 4 * units_ * p.features,
            floats(m[first + at.weights + 1]) + d * 4 * units_ * units_,
            bias_ ? floats(m[first + at.weights + 2]) + d * 4 * units_ : nullptr,
            given ? floats(m[first + 1]) + state : states + state,
            given ? floats(m[first + 2]) + state : others + state,
            floats(room[0]),
            floats(room[1]),
            d > 0};
  }

  std::int64_t units_, directions_ = 1;
  bool sequence_, reverse_first_ = false, bias_;
  Spec init_, recurrent_init_, bias_init_;
  double forget_bias_;
};

}  // namespace

extern const OperatorRow lstm{"lstm",
                              "long short-term memory over a sequence, in one or both directions",
                              make_member<Lstm>,
                              {
                                  {"lstm(units=3)", {{2, 4, 5}}},
                                  {"lstm(units=4, sequence=false, forget_bias=1)", {{3, 3, 2}}},
                                  {"lstm(units=2, direction=reverse, bias=false)", {{2, 3, 3}}},
                                  {"lstm(units=3, direction=bidirectional)", {{2, 3, 2}, {2, 2, 3}, {2, 2, 3}}},
                                  {"lstm(units=2, direction=bidirectional, sequence=false)", {{1, 5, 3}}},
                                  {"lstm(units=17)", {{1, 1, 4}, {1, 1, 17}, {1, 1, 17}}},
                              }};

}  // namespace isobar::ops
