// transpose: axes in another order; by default the last two are swapped.
//   y's axis i is x's axis order[i];  dx's axis order[i] is dy's axis i
#include <algorithm>
#include <numeric>

#include <fmt/ranges.h>

#include "isobar/base/error.hpp"
#include "isobar/ops/axes.hpp"
#include "isobar/ops/permute.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class Transpose final : public Operator {
 public:
  explicit Transpose(Args& args) : order_(args.integers("order", {})) {}

  std::vector<Shape> infer(std::span<const Shape> in) const override { return {permuted(in[0], fitted(in[0]))}; }

  // The axis of x that comes from the samples' place stays whole.
  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    const int from = fitted(in[0])[axis];
    if (from == 0) return std::nullopt;
    return same_elements(from, in);
  }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    const Shape& x = in[0].shape;
    const std::vector<int> order = fitted(x);
    return permute_kernel(setting, "forward", {Kind::x, 0}, x, x, order, {Kind::y, 0}, permuted(x, order));
  }

  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    const Shape& x = in[0].shape;
    const std::vector<int> order = fitted(x);
    const Shape y = permuted(x, order);
    return {permute_kernel(setting, "backward", {Kind::dy, 0}, y, y, inverse_order(order), {Kind::dx, 0}, x)};
  }

 private:
  std::vector<int> fitted(const Shape& x) const {
    std::vector<int> order(x.rank());
    std::iota(order.begin(), order.end(), 0);
    if (order_.empty()) {
      if (x.rank() < 2) fail("x = {} needs at least two axes to swap", x.str());
      std::swap(order[order.size() - 1], order[order.size() - 2]);
      return order;
    }
    if (order_.size() != order.size())
      fail("order [{}] names {} axes, x = {} has {}", fmt::join(order_, ", "), order_.size(), x.str(), x.rank());
    chosen_axes(order_, x);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = fitted_axis(order_[i], x);
    return order;
  }

  std::vector<std::int64_t> order_;
};

}  // namespace

extern const OperatorRow transpose{"transpose",
                                   "axes in another order",
                                   make_member<Transpose>,
                                   {{"transpose", {{2, 3, 17, 5}}},
                                    {"transpose(order=[1, 0])", {{7, 33}}},
                                    {"transpose(order=[0, 3, 1, 2])", {{2, 4, 5, 3}}},
                                    {"transpose(order=[-1, 1, 0, 2, 3])", {{2, 3, 4, 1, 5}}},
                                    {"transpose(order=[1, 0, 2])", {{1, 5, 3}}}}};

}  // namespace isobar::ops
