// GridSample: y[n,c,i,j] = x[n,c] interpolated at grid[n,i,j] = (across, down), where -1 and 1 are the ends.
#include <algorithm>
#include <cmath>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

enum class Padding { zeros, border, reflection };

Padding padding(const OnnxNode& node) {
  const std::string name = node.text("padding_mode", "zeros");
  if (name == "zeros") return Padding::zeros;
  if (name == "border") return Padding::border;
  if (name == "reflection") return Padding::reflection;
  fail("padding_mode '{}'; zeros, border and reflection are valid", name);
}

Arrays infer_grid(const Call& call) {
  expect_rank(call, 0, 4);
  expect_rank(call, 1, 4);
  const Dims &x = call[0].dims, &grid = call[1].dims;
  expect_dims(call, 1, {x[0], grid[1], grid[2], 2});
  padding(call.node);
  const std::string mode = call.node.text("mode", "bilinear");
  if (mode != "bilinear" && mode != "nearest" && mode != "bicubic")
    fail("mode '{}'; bilinear, nearest and bicubic are valid", mode);
  return {described(call[0].type, {x[0], x[1], grid[1], grid[2]})};
}

/// Folds x back between the ends, as often as needed.
double reflected(double x, double first, double last) {
  const double range = last - first;
  if (range <= 0) return first;
  const double at = std::fmod(std::fabs(x - first), 2 * range);
  return first + (at > range ? 2 * range - at : at);
}

/// One axis of the image.
struct Line {
  std::int64_t extent;
  bool corners;
  Padding pad;

  double first() const { return corners ? 0 : -0.5; }
  double last() const { return static_cast<double>(extent) - (corners ? 1 : 0.5); }
  /// From -1 ... 1 to pixels; NaN counts as -1, and positions far outside are clamped.
  double pixel(double at) const {
    const double place = std::clamp(std::isnan(at) ? -1 : at, -0x1p30, 0x1p30);
    const double size = static_cast<double>(extent);
    const double x = corners ? (place + 1) / 2 * (size - 1) : ((place + 1) * size - 1) / 2;
    if (x >= first() && x <= last()) return x;
    if (pad == Padding::border) return std::clamp(x, 0.0, size - 1);
    return pad == Padding::reflection ? reflected(x, first(), last()) : x;
  }
  /// The pixel that replaces number n; -1 for a zero.
  std::int64_t source(std::int64_t n) const {
    if (n >= 0 && n < extent) return n;
    if (pad == Padding::zeros) return -1;
    if (pad == Padding::border) return std::clamp<std::int64_t>(n, 0, extent - 1);
    const double place = reflected(static_cast<double>(n), first(), last());
    return std::clamp<std::int64_t>(whole(std::nearbyint(place)), 0, extent - 1);
  }
};

struct SampleTap {
  std::int64_t at;
  double weight;
};
std::vector<SampleTap> taps(const Line& line, double at, const std::string& mode) {
  const double x = line.pixel(at);
  std::vector<SampleTap> result;
  if (mode == "nearest") {
    result = {{whole(std::nearbyint(x)), 1}};
  } else {
    const std::int64_t first = whole(std::floor(x));
    const double rest = x - std::floor(x);
    if (mode == "bilinear") {
      result = {{first, 1 - rest}, {first + 1, rest}};
    } else {
      constexpr double a = -0.75;
      const auto near = [](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
      const auto far = [](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
      result = {
          {first - 1, far(1 + rest)}, {first, near(rest)}, {first + 1, near(1 - rest)}, {first + 2, far(2 - rest)}};
    }
  }
  for (SampleTap& tap : result) tap.at = line.source(tap.at);
  std::erase_if(result, [](const SampleTap& tap) { return tap.at < 0; });
  return result;
}

void fill_grid(const Call& call, Arrays& out) {
  const Array &x = call.known(0), &grid = call.known(1);
  const std::string mode = call.node.text("mode", "bilinear");
  const bool corners = call.node.integer("align_corners", 0) != 0;
  const Line down{x.dims[2], corners, padding(call.node)}, across{x.dims[3], corners, padding(call.node)};
  if (down.extent == 0 || across.extent == 0) fail("{} has no pixels", dims_text(x.dims));
  const std::int64_t channels = x.dims[1], size = out[0].dims[2] * out[0].dims[3];
  for (std::int64_t n = 0; n < x.dims[0]; ++n)
    for (std::int64_t i = 0; i < size; ++i) {
      const double* place = grid.values.data() + (n * size + i) * 2;
      const std::vector<SampleTap> columns = taps(across, place[0], mode), rows = taps(down, place[1], mode);
      for (std::int64_t c = 0; c < channels; ++c) {
        const double* plane = x.values.data() + (n * channels + c) * down.extent * across.extent;
        double sum = 0;
        for (const SampleTap& row : rows)
          for (const SampleTap& column : columns)
            sum += row.weight * column.weight * plane[row.at * across.extent + column.at];
        out[0].values[(n * channels + c) * size + i] = sum;
      }
    }
}

}  // namespace

std::span<const Function> sample_functions() {
  static constexpr Function all[] = {function<infer_grid, fill_grid>("GridSample")};
  return all;
}

}  // namespace isobar::onnx
