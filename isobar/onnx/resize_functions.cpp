// Resize and Upsample, axis by axis: y[i] = sum of weight(i,n) x[n], where positions n and weights follow from the
// place of i in the input. Interpolation along several axes is the product of those along each.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

/// The inputs of a call: Resize 10 and Upsample have (x, scales), Resize since 11 (x, roi, scales, sizes).
bool has_region(const Call& call) { return call.node.op == "Resize" && call.version >= 11; }

/// The numbers of an input; an empty input counts as omitted.
const std::vector<double>* filled(const Call& call, std::size_t i) {
  if (!call.has(i) || call[i].count() == 0) return nullptr;
  return &call.known(i).values;
}

struct Axis {
  std::int64_t in, out;
  double scale;
};
std::vector<Axis> axes(const Call& call) {
  const Dims& dims = call[0].dims;
  const bool region = has_region(call);
  const std::vector<double>* sizes = region ? filled(call, 3) : nullptr;
  const std::vector<double>* given = filled(call, region ? 2 : 1);
  const std::vector<double> attribute = call.node.numbers("scales", {});
  if (!given && !attribute.empty()) given = &attribute;
  const std::vector<double>* factors = sizes ? sizes : given;
  if (!factors || factors->size() != dims.size())
    fail("{} sizes or scales for {}", factors ? factors->size() : 0, dims_text(dims));
  std::vector<Axis> result;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const double factor = (*factors)[i];
    if (!(factor > 0 && factor <= 0x1p31)) fail("axis {} is resized by or to {}", i, factor);
    const auto in = static_cast<double>(dims[i]);
    if (sizes) {
      if (dims[i] == 0) fail("axis {} of {} has nothing to resize", i, dims_text(dims));
      result.push_back({dims[i], whole(factor), std::trunc(factor) / in});
    } else {
      // In float, like the numbers in the file: 10 times 0.7f is 7, in double it is less.
      const float product = static_cast<float>(factor) * static_cast<float>(in);
      result.push_back({dims[i], whole(std::floor(product)), factor});
    }
  }
  return result;
}
Arrays infer_resize(const Call& call) {
  Dims dims;
  for (const Axis& axis : axes(call)) dims.push_back(axis.out);
  return {described(call[0].type, dims)};
}

/// What determines the weights: the attributes, and the region along one axis.
struct ResizeRule {
  std::string mode, coordinates, nearest;
  double cubic;
  bool exclude_outside;
  double start = 0, end = 1;
};
ResizeRule rule(const Call& call) {
  const OnnxNode& node = call.node;
  ResizeRule result{node.text("mode", "nearest"), node.text("coordinate_transformation_mode", "half_pixel"),
                    node.text("nearest_mode", "round_prefer_floor"), node.number("cubic_coeff_a", -0.75),
                    node.integer("exclude_outside", 0) != 0};
  if (!has_region(call)) {
    result.coordinates = "asymmetric";
    result.nearest = "floor";
  }
  if (result.mode != "nearest" && result.mode != "linear" && result.mode != "cubic")
    fail("mode '{}'; nearest, linear and cubic are valid", result.mode);
  return result;
}

/// The place of element i of the output in the input.
double place(const ResizeRule& rule, const Axis& axis, double i) {
  const double in = static_cast<double>(axis.in), out = axis.scale * in;
  if (rule.coordinates == "asymmetric") return i / axis.scale;
  if (rule.coordinates == "align_corners") return out == 1 ? 0 : i * (in - 1) / (out - 1);
  if (rule.coordinates == "half_pixel") return (i + 0.5) / axis.scale - 0.5;
  if (rule.coordinates == "pytorch_half_pixel") return axis.out > 1 ? (i + 0.5) / axis.scale - 0.5 : 0;
  if (rule.coordinates == "tf_half_pixel_for_nn") return (i + 0.5) / axis.scale;
  if (rule.coordinates == "tf_crop_and_resize") {
    const double width = (rule.end - rule.start) * (in - 1);
    return rule.start * (in - 1) + (out > 1 ? i * width / (out - 1) : width / 2);
  }
  fail("coordinate_transformation_mode '{}' is unknown", rule.coordinates);
}

struct ResizeTap {
  std::int64_t at;
  double weight;
};
std::vector<ResizeTap> taps(const ResizeRule& rule, double x, std::int64_t extent) {
  const double floor = std::floor(x), rest = x - floor;
  const std::int64_t first = whole(floor);
  std::vector<ResizeTap> result;
  if (rule.mode == "nearest") {
    bool up = false;
    if (rule.nearest == "round_prefer_floor") up = rest > 0.5;
    else if (rule.nearest == "round_prefer_ceil") up = rest >= 0.5;
    else if (rule.nearest == "ceil") up = rest > 0;
    else if (rule.nearest != "floor") fail("nearest_mode '{}' is unknown", rule.nearest);
    result = {{first + up, 1}};
  } else if (rule.mode == "linear") {
    result = {{first, 1 - rest}, {first + 1, rest}};
  } else {
    const double a = rule.cubic;
    const auto near = [a](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
    const auto far = [a](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    result = {{first - 1, far(1 + rest)}, {first, near(rest)}, {first + 1, near(1 - rest)}, {first + 2, far(2 - rest)}};
  }
  if (rule.exclude_outside) {
    double sum = 0;
    for (ResizeTap& tap : result) sum += tap.weight *= tap.at >= 0 && tap.at < extent;
    if (sum != 0)
      for (ResizeTap& tap : result) tap.weight /= sum;
  }
  for (ResizeTap& tap : result) tap.at = std::clamp<std::int64_t>(tap.at, 0, extent - 1);
  return result;
}

void fill_resize(const Call& call, Arrays& out) {
  const std::vector<Axis> all = axes(call);
  ResizeRule how = rule(call);
  const bool crops = how.coordinates == "tf_crop_and_resize";
  const std::vector<double>* region = crops ? filled(call, 1) : nullptr;
  if (crops && (!region || region->size() != 2 * all.size())) fail("the region needs two numbers per axis");
  const double outside = call.node.number("extrapolation_value", 0);
  Array now = call.known(0);
  // Axes that shrink go first, so that no intermediate result is larger than input and output.
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return all[a].scale < all[b].scale; });
  for (const std::size_t i : order) {
    if (region) {
      how.start = (*region)[i];
      how.end = (*region)[all.size() + i];
    }
    const bool untouched = all[i].in == all[i].out && all[i].scale == 1 && (!crops || (how.start == 0 && how.end == 1));
    if (untouched) continue;
    Dims dims = now.dims;
    dims[i] = all[i].out;
    Array next = zeros(now.type, dims);
    const Around form = around(now.dims, i);
    for (std::int64_t n = 0; n < all[i].out; ++n) {
      const double x = place(how, all[i], static_cast<double>(n));
      const bool beyond = crops && !(x >= 0 && x <= static_cast<double>(form.extent - 1));
      const std::vector<ResizeTap> from = beyond ? std::vector<ResizeTap>{} : taps(how, x, form.extent);
      for (std::int64_t o = 0; o < form.outer; ++o)
        for (std::int64_t j = 0; j < form.inner; ++j) {
          double sum = beyond ? outside : 0;
          for (const ResizeTap& tap : from) sum += tap.weight * now.values[(o * form.extent + tap.at) * form.inner + j];
          next.values[(o * all[i].out + n) * form.inner + j] = sum;
        }
    }
    now = std::move(next);
  }
  out[0].values = std::move(now.values);
}

}  // namespace

std::span<const Function> resize_functions() {
  static constexpr Function all[] = {
      function<infer_resize, fill_resize>("Resize"),
      function<infer_resize, fill_resize>("Upsample"),
  };
  return all;
}

}  // namespace isobar::onnx
