// split: x cut along an axis into several outputs, of given sizes or in equal parts.
//   y_i[.., j, ..] = x[.., offset_i + j, ..];  dx is the concatenation of all dy_i
#include <numeric>

#include <fmt/ranges.h>

#include "isobar/ops/axes.hpp"
#include "isobar/ops/copy_rows.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class Split final : public Operator {
 public:
  explicit Split(Args& args)
      : axis_(args.integer("axis", -1)),
        sizes_(args.integers("sizes", {})),
        parts_(sizes_.empty() ? args.integer("parts", 2) : std::ssize(sizes_)) {
    args.require(parts_ >= 1, "parts must be at least 1");
    args.require(std::all_of(sizes_.begin(), sizes_.end(), [](auto s) { return s >= 1; }), "sizes must be at least 1");
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override { return results(in[0]); }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    if (axis == fitted_axis(axis_, in[0])) return std::nullopt;
    return same_elements(axis, in);
  }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    const Shape& x = in[0].shape;
    Kernel kernel{"forward", Category::copy, {{{Kind::x, 0}, plain(x)}}};
    for (const Shape& y : results(x))
      kernel.writes.push_back({{Kind::y, static_cast<int>(kernel.writes.size())}, plain(y)});
    kernel.run = [outer = rows(x), pitch = x.count() / rows(x), lengths = lengths(x)](const Moment&,
                                                                                      std::span<const dnnl::memory> m) {
      const float* from = floats(m[0]);
      for (std::size_t i = 0; i < lengths.size(); from += lengths[i], ++i)
        copy_rows(outer, lengths[i], from, pitch, floats(m[i + 1]), lengths[i]);
    };
    return kernel;
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    const Shape& x = in[0].shape;
    Kernel kernel{"backward", Category::copy};
    for (const Shape& y : results(x))
      kernel.reads.push_back({{Kind::dy, static_cast<int>(kernel.reads.size())}, plain(y)});
    kernel.writes = {{{Kind::dx, 0}, plain(x)}};
    kernel.run = [outer = rows(x), pitch = x.count() / rows(x), lengths = lengths(x)](const Moment&,
                                                                                      std::span<const dnnl::memory> m) {
      float* to = floats(m.back());
      for (std::size_t i = 0; i < lengths.size(); to += lengths[i], ++i)
        copy_rows(outer, lengths[i], floats(m[i]), lengths[i], to, pitch);
    };
    return {kernel};
  }

 private:
  std::vector<Shape> results(const Shape& x) const {
    const int axis = fitted_axis(axis_, x);
    if (sizes_.empty() && x[axis] % parts_ != 0)
      fail("axis {} of x = {} cannot be cut into {} equal parts", axis, x.str(), parts_);
    if (!sizes_.empty() && std::accumulate(sizes_.begin(), sizes_.end(), std::int64_t{0}) != x[axis])
      fail("sizes [{}] do not add up to the {} of axis {} of x = {}", fmt::join(sizes_, ", "), x[axis], axis, x.str());
    std::vector<Shape> list(parts_, x);
    for (std::size_t i = 0; i < list.size(); ++i) list[i][axis] = sizes_.empty() ? x[axis] / parts_ : sizes_[i];
    return list;
  }

  std::int64_t rows(const Shape& x) const { return x.count(0, fitted_axis(axis_, x)); }

  std::vector<std::int64_t> lengths(const Shape& x) const {
    std::vector<std::int64_t> list;
    for (const Shape& y : results(x)) list.push_back(y.count() / rows(x));
    return list;
  }

  std::int64_t axis_;
  std::vector<std::int64_t> sizes_;
  std::int64_t parts_;
};

}  // namespace

extern const OperatorRow split{"split",
                               "cut along an axis into several outputs",
                               make_member<Split>,
                               {{"split", {{2, 3, 4}}},
                                {"split(axis=1, sizes=[1, 4, 2])", {{2, 7, 3}}},
                                {"split(axis=0, parts=3)", {{6, 5}}},
                                {"split(parts=1)", {{2, 3}}}}};

}  // namespace isobar::ops
