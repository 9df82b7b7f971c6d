// Signals: the discrete Fourier transform X[k] = sum of x[n] exp(-2 pi i k n / N) in its plain form (DFT, STFT),
// windows and the matrix from frequencies to mels. Complex numbers are pairs on the last axis.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

/// Transforms `n` complex numbers and keeps the first `bins`.
std::vector<double> transform(const std::vector<double>& x, std::int64_t n, std::int64_t bins, bool inverse) {
  std::vector<double> cosine(n), sine(n), result(2 * bins);
  for (std::int64_t i = 0; i < n; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / n;
    cosine[i] = std::cos(angle);
    sine[i] = inverse ? std::sin(angle) : -std::sin(angle);
  }
  const double scale = inverse ? 1 / static_cast<double>(n) : 1;
  for (std::int64_t k = 0; k < bins; ++k) {
    double real = 0, imaginary = 0;
    for (std::int64_t i = 0, turn = 0; i < n; ++i, turn = (turn + k) % n) {
      real += x[2 * i] * cosine[turn] - x[2 * i + 1] * sine[turn];
      imaginary += x[2 * i] * sine[turn] + x[2 * i + 1] * cosine[turn];
    }
    result[2 * k] = real * scale;
    result[2 * k + 1] = imaginary * scale;
  }
  return result;
}

/// Real numbers have a last axis of 1, complex numbers of 2.
std::int64_t parts(const Dims& dims) {
  if (dims.empty() || (dims.back() != 1 && dims.back() != 2)) fail("{}: the last axis must be 1 or 2", dims_text(dims));
  return dims.back();
}

int transform_axis(const Call& call) {
  parts(call[0].dims);
  const int rank = call[0].rank(), axis = checked_axis(call.node.integer("axis", 1), rank);
  if (axis == rank - 1) fail("axis {} holds the parts of the numbers", axis);
  return axis;
}
std::int64_t transform_length(const Call& call) {
  const std::int64_t n = call.has(1) ? whole(scalar(call, 1)) : call[0].dims[transform_axis(call)];
  if (n < 1 || n > max_axis) fail("a transform of length {}; at least 1 is valid", n);
  return n;
}
Arrays infer_dft(const Call& call) {
  const int axis = transform_axis(call);
  const std::int64_t n = transform_length(call);
  Dims dims = call[0].dims;
  dims[axis] = call.node.integer("onesided", 0) != 0 ? n / 2 + 1 : n;
  dims.back() = 2;
  return {described(call[0].type, dims)};
}
void fill_dft(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const int axis = transform_axis(call);
  const std::int64_t n = transform_length(call), bins = out[0].dims[axis], numbers = x.dims.back();
  const bool inverse = call.node.integer("inverse", 0) != 0;
  const Around form = around(x.dims, axis);
  const std::int64_t inner = form.inner / numbers;
  std::vector<double> row(2 * n);
  for (std::int64_t o = 0; o < form.outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      std::fill(row.begin(), row.end(), 0);
      for (std::int64_t k = 0; k < std::min(n, form.extent); ++k)
        for (std::int64_t p = 0; p < numbers; ++p)
          row[2 * k + p] = x.values[((o * form.extent + k) * inner + i) * numbers + p];
      const std::vector<double> result = transform(row, n, bins, inverse);
      for (std::int64_t k = 0; k < bins; ++k)
        for (std::int64_t p = 0; p < 2; ++p) out[0].values[((o * bins + k) * inner + i) * 2 + p] = result[2 * k + p];
    }
}

struct Frames {
  std::int64_t numbers, length, step, count, bins;
};
Frames frames(const Call& call) {
  const Dims& dims = call[0].dims;
  if (dims.size() != 2 && dims.size() != 3) fail("a signal of {}; [batch, length, 1 or 2] is valid", dims_text(dims));
  Frames result{dims.size() == 3 ? parts(dims) : 1, 0, whole(scalar(call, 1)), 0, 0};
  if (call.has(3)) result.length = whole(scalar(call, 3));
  else if (call.has(2)) result.length = call[2].count();
  else fail("neither a window nor a frame length is given");
  if (call.has(2)) expect_dims(call, 2, {result.length});
  if (result.step < 1 || result.length < 1 || result.length > dims[1])
    fail("frames of {} by {} in a signal of {}", result.length, result.step, dims[1]);
  const bool onesided = call.node.integer("onesided", 1) != 0;
  if (onesided && result.numbers == 2) fail("a complex signal has two sides; onesided must be 0");
  result.count = (dims[1] - result.length) / result.step + 1;
  result.bins = onesided ? result.length / 2 + 1 : result.length;
  return result;
}
Arrays infer_stft(const Call& call) {
  const Frames form = frames(call);
  return {described(call[0].type, {call[0].dims[0], form.count, form.bins, 2})};
}
void fill_stft(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const Frames form = frames(call);
  const std::vector<double>* window = call.has(2) ? &call.known(2).values : nullptr;
  std::vector<double> frame(2 * form.length);
  auto to = out[0].values.begin();
  for (std::int64_t b = 0; b < x.dims[0]; ++b)
    for (std::int64_t f = 0; f < form.count; ++f) {
      for (std::int64_t i = 0; i < form.length; ++i)
        for (std::int64_t p = 0; p < form.numbers; ++p)
          frame[2 * i + p] =
              x.values[(b * x.dims[1] + f * form.step + i) * form.numbers + p] * (window ? (*window)[i] : 1);
      const std::vector<double> result = transform(frame, form.length, form.bins, false);
      to = std::copy(result.begin(), result.end(), to);
    }
}

Type output_type(const Call& call) { return static_cast<Type>(call.node.integer("output_datatype", 1)); }

Arrays infer_window(const Call& call) { return {described(output_type(call), {whole(scalar(call, 0))})}; }
/// a - b cos(2 pi i / N) + c cos(4 pi i / N), where N is one less if the window is not periodic.
template <auto terms>
void fill_window(const Call& call, Arrays& out) {
  const auto size = static_cast<double>(out[0].values.size());
  const double n = call.node.integer("periodic", 1) != 0 ? size : size - 1;
  for (std::size_t i = 0; i < out[0].values.size(); ++i) {
    const double angle = n > 0 ? 2 * std::numbers::pi * static_cast<double>(i) / n : std::numbers::pi;
    out[0].values[i] = terms[0] - terms[1] * std::cos(angle) + terms[2] * std::cos(2 * angle);
  }
}

Arrays infer_mel(const Call& call) {
  for (std::size_t i = 0; i < 5; ++i) scalar(call, i);
  const std::int64_t mels = whole(scalar(call, 0)), length = whole(scalar(call, 1));
  if (mels < 0 || length < 1 || !(scalar(call, 2) > 0))
    fail("{} mels of a transform of length {} at {} samples a second", mels, length, scalar(call, 2));
  return {described(output_type(call), {length / 2 + 1, mels})};
}
/// Triangles with equally spaced corners in mels = 2595 log10(1 + hertz / 700).
void fill_mel(const Call& call, Arrays& out) {
  const std::int64_t bins = out[0].dims[0], mels = out[0].dims[1];
  const double length = std::trunc(scalar(call, 1)), rate = scalar(call, 2);
  const auto to_mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = to_mel(scalar(call, 3)), high = to_mel(scalar(call, 4));
  const double step = (high - low) / static_cast<double>(mels + 2);
  const auto corner = [&](std::int64_t i) {
    const double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + low) / 2595) - 1);
    const std::int64_t bin = whole(std::floor((length + 1) * hertz / rate));
    if (bin < 0 || bin >= bins) fail("{} hertz lie beyond the {} frequencies of the transform", hertz, bins);
    return bin;
  };
  for (std::int64_t m = 0; m < mels; ++m) {
    const std::int64_t left = corner(m), centre = corner(m + 1), right = corner(m + 2);
    const auto at = [&](std::int64_t bin) -> double& { return out[0].values[bin * mels + m]; };
    for (std::int64_t i = left; i < centre; ++i) at(i) = static_cast<double>(i - left) / (centre - left);
    at(centre) = 1;
    for (std::int64_t i = centre + 1; i < right; ++i) at(i) = static_cast<double>(right - i) / (right - centre);
  }
}

}  // namespace

std::span<const Function> signal_functions() {
  static constexpr Function all[] = {
      function<infer_window, fill_window<std::array{0.42, 0.5, 0.08}>>("BlackmanWindow"),
      function<infer_dft, fill_dft>("DFT"),
      function<infer_window, fill_window<std::array{25.0 / 46, 21.0 / 46, 0.0}>>("HammingWindow"),
      function<infer_window, fill_window<std::array{0.5, 0.5, 0.0}>>("HannWindow"),
      function<infer_mel, fill_mel>("MelWeightMatrix"),
      function<infer_stft, fill_stft>("STFT"),
  };
  return all;
}

}  // namespace isobar::onnx
