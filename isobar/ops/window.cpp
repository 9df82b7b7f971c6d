#include "isobar/ops/window.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"

namespace isobar::ops {

Extents spread(const Extents& given, int axes, std::string_view what) {
  if (given.size() == 1) return Extents(axes, given[0]);
  if (std::ssize(given) != axes) fail("{} has {} numbers, x has {} spatial axes", what, given.size(), axes);
  return given;
}

bool all_at_least(const Extents& values, std::int64_t least) {
  return std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v >= least; });
}

std::int64_t Window::volume() const {
  std::int64_t product = 1;
  for (const std::int64_t k : kernel) product *= k;
  return product;
}

Extents Window::gaps() const {
  Extents gaps = dilation;
  for (std::int64_t& d : gaps) --d;
  return gaps;
}

WindowSpec::WindowSpec(Args& args, std::string_view kernel_key, bool tiles)
    : kernel_(args.integers(kernel_key, {tiles ? 2 : 3})),
      stride_(args.integers("stride", tiles ? kernel_ : Extents{1})),
      dilation_(args.integers("dilation", {1})) {
  if (tiles) ceil_ = args.flag("ceil", false);
  const std::string padding = args.text("padding", "valid");
  same_ = padding == "same";
  if (same_ || padding == "valid") {
    before_ = after_ = {0};
    args.require(!args.has("padding_after"), "padding_after needs a numeric padding");
  } else {
    before_ = args.integers("padding", {});
    after_ = args.integers("padding_after", before_);
  }
  args.require(all_at_least(kernel_, 1), "the window must be at least 1 wide");
  args.require(all_at_least(stride_, 1), "stride must be at least 1");
  args.require(all_at_least(dilation_, 1), "dilation must be at least 1");
  args.require(all_at_least(before_, 0) && all_at_least(after_, 0), "padding must be valid, same or numbers >= 0");
}

Window WindowSpec::fit(const Shape& x) const {
  const int axes = spatial_rank(x);
  Window w{spread(kernel_, axes, "the window"),
           spread(stride_, axes, "stride"),
           spread(dilation_, axes, "dilation"),
           spread(before_, axes, "padding"),
           spread(after_, axes, "padding_after"),
           {},
           {}};
  for (int a = 0; a < axes; ++a) {
    const std::int64_t in = x[a + 1];
    const std::int64_t reach = (w.kernel[a] - 1) * w.dilation[a] + 1;
    if (same_) {  // TensorFlow: as many positions as strides fit; an odd padding element goes to the end
      const std::int64_t out = (in + w.stride[a] - 1) / w.stride[a];
      const std::int64_t total = std::max<std::int64_t>(0, (out - 1) * w.stride[a] + reach - in);
      w.before[a] = total / 2;
      w.after[a] = total - total / 2;
    }
    const std::int64_t room = in + w.before[a] + w.after[a] - reach;
    if (room < 0 && !(ceil_ && -room < w.stride[a]))
      fail("a window of {} does not fit x = {} (axis {} has {} with padding)", reach, x.str(), a + 1,
           in + w.before[a] + w.after[a]);
    w.out.push_back(room < 0 ? 0 : room / w.stride[a] + 1);
    const std::int64_t next = w.out[a] * w.stride[a];  // where one more window would start
    const bool one_more = ceil_ && next - room < w.stride[a] && next < in + w.before[a];
    w.overhang.push_back(one_more ? next - room : 0);
    if (one_more) ++w.out[a];
  }
  return w;
}

int spatial_rank(const Shape& x) {
  if (x.rank() < 3 || x.rank() > 5)
    fail("x = {} must be channels-last with 1 to 3 spatial axes: [batch, ..., channels]", x.str());
  return x.rank() - 2;
}

}  // namespace isobar::ops
