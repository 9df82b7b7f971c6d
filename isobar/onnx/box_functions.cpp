// Boxes in images: NonMaxSuppression keeps the best of overlapping boxes, RoiAlign samples a grid inside each box.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

struct Box {
  double top, left, bottom, right;
  double area() const { return std::max(0.0, bottom - top) * std::max(0.0, right - left); }
};
Box box(const double* numbers, bool centred) {
  if (centred) {
    const double x = numbers[0], y = numbers[1], width = numbers[2] / 2, height = numbers[3] / 2;
    return {y - height, x - width, y + height, x + width};
  }
  return {std::min(numbers[0], numbers[2]), std::min(numbers[1], numbers[3]), std::max(numbers[0], numbers[2]),
          std::max(numbers[1], numbers[3])};
}
/// Area of the intersection over area of the union.
double overlap(const Box& a, const Box& b) {
  const Box both{std::max(a.top, b.top), std::max(a.left, b.left), std::min(a.bottom, b.bottom),
                 std::min(a.right, b.right)};
  const double together = a.area() + b.area() - both.area();
  return together > 0 ? both.area() / together : 0;
}

/// Triples (batch, class, box), the best box of each class first.
std::vector<double> selected(const Call& call) {
  const Array &boxes = call.known(0), &scores = call.known(1);
  expect_rank(call, 0, 3);
  expect_rank(call, 1, 3);
  const std::int64_t batches = boxes.dims[0], count = boxes.dims[1], classes = scores.dims[1];
  if (boxes.dims[2] != 4 || scores.dims[0] != batches || scores.dims[2] != count)
    fail("boxes {} and scores {} do not fit each other", dims_text(boxes.dims), dims_text(scores.dims));
  const std::int64_t most = call.has(2) ? whole(scalar(call, 2)) : 0;
  const double limit = call.has(3) ? scalar(call, 3) : 0;
  const double least = call.has(4) ? scalar(call, 4) : -std::numeric_limits<double>::infinity();
  const bool centred = call.node.integer("center_point_box", 0) != 0;
  std::vector<double> result;
  if (boxes.values.empty() || scores.values.empty()) return result;
  for (std::int64_t b = 0; b < batches; ++b)
    for (std::int64_t c = 0; c < classes; ++c) {
      const double* score = scores.values.data() + (b * classes + c) * count;
      std::vector<std::int64_t> order;
      for (std::int64_t i = 0; i < count; ++i)
        if (score[i] > least) order.push_back(i);
      std::stable_sort(order.begin(), order.end(), [&](auto left, auto right) { return score[left] > score[right]; });
      std::vector<Box> kept;
      for (const std::int64_t i : order) {
        if (std::ssize(kept) >= most) break;
        const Box candidate = box(boxes.values.data() + (b * count + i) * 4, centred);
        if (std::any_of(kept.begin(), kept.end(), [&](const Box& k) { return overlap(k, candidate) > limit; }))
          continue;
        kept.push_back(candidate);
        for (const std::int64_t number : {b, c, i}) result.push_back(static_cast<double>(number));
      }
    }
  return result;
}
Arrays infer_suppression(const Call& call) { return {described(Type::int64, {std::ssize(selected(call)) / 3, 3})}; }
void fill_suppression(const Call& call, Arrays& out) { out[0].values = selected(call); }

Arrays infer_align(const Call& call) {
  expect_rank(call, 0, 4);
  expect_rank(call, 1, 2);
  const Dims& rois = call[1].dims;
  expect_dims(call, 1, {rois[0], 4});
  expect_dims(call, 2, {rois[0]});
  const std::string mode = call.node.text("mode", "avg");
  if (mode != "avg" && mode != "max") fail("mode '{}'; avg and max are valid", mode);
  const std::int64_t height = call.node.integer("output_height", 1), width = call.node.integer("output_width", 1);
  return {described(call[0].type, {rois[0], call[0].dims[1], height, width})};
}

/// A sample of one bin along one axis: its two neighbours and their weights. Samples more than one pixel outside do not
/// count.
struct Sample {
  std::int64_t low, high;
  double rest;
  bool inside;
};
std::vector<Sample> samples(double start, double length, std::int64_t bins, std::int64_t bin, std::int64_t ratio,
                            std::int64_t extent) {
  const double size = length / static_cast<double>(bins);
  const double wanted = ratio > 0 ? static_cast<double>(ratio) : std::ceil(size);
  if (!(wanted <= 4096) || !std::isfinite(start)) fail("a region of length {} needs {} samples a bin", length, wanted);
  const std::int64_t count = std::max<std::int64_t>(whole(wanted), 0);
  std::vector<Sample> result;
  for (std::int64_t i = 0; i < count; ++i) {
    double at = start + size * (static_cast<double>(bin) + (static_cast<double>(i) + 0.5) / static_cast<double>(count));
    const bool inside = at >= -1 && at <= static_cast<double>(extent);
    at = std::clamp(at, 0.0, static_cast<double>(extent - 1));
    const std::int64_t low = whole(std::floor(at));
    result.push_back({low, std::min(low + 1, extent - 1), at - static_cast<double>(low), inside});
  }
  return result;
}

void fill_align(const Call& call, Arrays& out) {
  const Array &x = call.known(0), &rois = call.known(1), &batches = call.known(2);
  const OnnxNode& node = call.node;
  const std::int64_t channels = x.dims[1], height = x.dims[2], width = x.dims[3],
                     ratio = node.integer("sampling_ratio", 0);
  const std::int64_t rows = out[0].dims[2], columns = out[0].dims[3];
  const double scale = node.number("spatial_scale", 1);
  const bool half = call.version >= 16 && node.text("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  const bool average = node.text("mode", "avg") == "avg";
  if (height == 0 || width == 0) fail("{} has no pixels", dims_text(x.dims));
  for (std::int64_t r = 0; r < rois.dims[0]; ++r) {
    const std::int64_t batch = checked_index(batches.values[r], x.dims[0]);
    double corner[4];
    for (int i = 0; i < 4; ++i) corner[i] = rois.values[r * 4 + i] * scale - (half ? 0.5 : 0);
    // Without the half pixel a region is at least one pixel wide.
    const double across = std::max(corner[2] - corner[0], half ? 0.0 : 1.0);
    const double down = std::max(corner[3] - corner[1], half ? 0.0 : 1.0);
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::vector<Sample> ys = samples(corner[1], down, rows, row, ratio, height);
      for (std::int64_t column = 0; column < columns; ++column) {
        const std::vector<Sample> xs = samples(corner[0], across, columns, column, ratio, width);
        for (std::int64_t c = 0; c < channels; ++c) {
          const double* plane = x.values.data() + (batch * channels + c) * height * width;
          double sum = 0, largest = -std::numeric_limits<double>::infinity();
          for (const Sample& v : ys)
            for (const Sample& h : xs) {
              const double* low = plane + v.low * width;
              const double* high = plane + v.high * width;
              double value = (1 - v.rest) * ((1 - h.rest) * low[h.low] + h.rest * low[h.high]) +
                             v.rest * ((1 - h.rest) * high[h.low] + h.rest * high[h.high]);
              if (!v.inside || !h.inside) value = 0;
              sum += value;
              largest = std::max(largest, value);
            }
          const auto count = static_cast<double>(ys.size() * xs.size());
          out[0].values[((r * channels + c) * rows + row) * columns + column] = count == 0 ? 0
                                                                                : average  ? sum / count
                                                                                           : largest;
        }
      }
    }
  }
}

}  // namespace

std::span<const Function> box_functions() {
  static constexpr Function all[] = {
      function<infer_suppression, fill_suppression>("NonMaxSuppression"),
      function<infer_align, fill_align>("RoiAlign"),
  };
  return all;
}

}  // namespace isobar::onnx
