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

std::vector<Interval> Window::reads(int a, std::int64_t extent) const {
  std::vector<Interval> list;
  for (std::int64_t o = 0; o < out[a]; ++o) {
    const std::int64_t first = o * stride[a] - before[a];  // of the window; it may lie in the padding
    const std::int64_t skipped = first < 0 ? (-first + dilation[a] - 1) / dilation[a] : 0;
    const std::int64_t last = extent - 1 < first ? -1 : std::min(kernel[a] - 1, (extent - 1 - first) / dilation[a]);
    list.push_back(last < skipped ? Interval()
                                  : Interval{first + skipped * dilation[a], first + last * dilation[a] + 1});
  }
  return list;
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
           spread(overhang_, axes, "overhang"),
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
    const std::int64_t room = in + w.before[a] + w.after[a] + w.overhang[a] - reach;
    if (room < 0 && !(ceil_ && -room < w.stride[a]))
      fail("a window of {} does not fit x = {} (axis {} has {} with padding)", reach, x.str(), a + 1,
           in + w.before[a] + w.after[a]);
    w.out.push_back(room < 0 ? 0 : room / w.stride[a] + 1);
    const std::int64_t next = w.out[a] * w.stride[a];  // where one more window would start
    const bool one_more = ceil_ && next - room < w.stride[a] && next < in + w.before[a];
    if (!one_more) continue;
    w.overhang[a] += next - room;
    ++w.out[a];
  }
  return w;
}

WindowSpec WindowSpec::cropped(const Crop& crop) const {
  Window w = fit(crop.in[0]);
  const int a = crop.axis - 1;
  const Interval read = crop.read[0];
  const std::int64_t first = crop.out.begin * w.stride[a] - w.before[a];  // where the first window of the part begins
  const std::int64_t reach = (w.kernel[a] - 1) * w.dilation[a] + 1;
  const std::int64_t behind = first + (crop.out.extent() - 1) * w.stride[a] + reach - read.end;
  const std::int64_t padding = crop.in[0][crop.axis] + w.after[a] - read.end;
  w.before[a] = read.begin - first;
  w.after[a] = std::min(behind, padding);
  w.overhang[a] = behind - w.after[a];
  WindowSpec part = *this;
  part.kernel_ = w.kernel;
  part.stride_ = w.stride;
  part.dilation_ = w.dilation;
  part.before_ = w.before;
  part.after_ = w.after;
  part.overhang_ = w.overhang;
  part.same_ = part.ceil_ = false;
  return part;
}

bool WindowSpec::hangs_over() const {
  return ceil_ || !std::ranges::all_of(overhang_, [](auto o) { return o == 0; });
}

Reach window_reach(const Window& window, int axis, std::span<const Shape> in) {
  Reach reach{std::vector<Reach::Input>(in.size())};
  reach.in[0] = {axis, window.reads(axis - 1, in[0][axis])};
  return reach;
}

int spatial_rank(const Shape& x) {
  if (x.rank() < 3 || x.rank() > 5)
    fail("x = {} must be channels-last with 1 to 3 spatial axes: [batch, ..., channels]", x.str());
  return x.rank() - 2;
}

}  // namespace isobar::ops
