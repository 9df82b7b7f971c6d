// Naive references of normalisation, transposed convolution, products, resampling and recurrence, in double precision,
// straight from the formulas; reference.hpp adds them to the others.
#pragma once

#include "tests/ops/reference.hpp"

namespace isobar::reference {

/// Every input position adds its window to the output, whose extents follow from the formula of the contract.
inline Array deconv(Args& args, const Inputs& in, const Context&) {
  const Array &x = in[0], &weights = in[1];
  const int axes = x.shape.rank() - 2;
  const auto all = [&](const char* key, std::int64_t otherwise) {
    return ops::spread(args.integers(key, {otherwise}), axes, key);
  };
  const ops::Extents kernel = all("kernel", 3), stride = all("stride", 1), dilation = all("dilation", 1);
  const std::string padding = args.text("padding", "valid");
  const bool numeric = padding != "valid" && padding != "same";
  const ops::Extents none(static_cast<std::size_t>(axes), 0);
  ops::Extents before = numeric ? all("padding", 0) : none;
  ops::Extents after = numeric && args.has("padding_after") ? all("padding_after", 0) : before;
  const ops::Extents extra = all("output_padding", 0);
  const std::int64_t groups = args.integer("groups", 1), filters = args.integer("filters");
  ops::Extents from, to;
  Shape shape = x.shape;
  for (std::size_t a = 0; a < kernel.size(); ++a) {
    const std::int64_t extent = x.shape[static_cast<int>(a) + 1], reach = dilation[a] * (kernel[a] - 1) + 1;
    if (padding == "same") before[a] = std::max<std::int64_t>(reach - stride[a], 0) / 2;
    const std::int64_t out = (extent - 1) * stride[a] - before[a] - after[a] + reach + extra[a];
    from.push_back(extent);
    to.push_back(padding == "same" ? extent * stride[a] : out);
    shape[static_cast<int>(a) + 1] = to[a];
  }
  shape[-1] = filters;
  Array y(shape);
  for (std::int64_t i = 0; i < y.shape.count(); ++i) y[i] = in.size() > 2 ? in[2][i % filters] : 0;
  const std::int64_t channels = x.shape[-1], per_group = filters / groups, outputs = shape.count(1, shape.rank() - 1);
  std::int64_t at = 0;
  for (std::int64_t n = 0; n < x.shape[0]; ++n)
    for_all(from, [&](const ops::Extents& p) {
      for (std::int64_t i = 0; i < channels; ++i, ++at) {
        std::int64_t k_number = 0;
        for_all(kernel, [&](const ops::Extents& k) {
          std::int64_t target = 0;
          bool inside = true;
          for (std::size_t a = 0; a < p.size(); ++a) {
            const std::int64_t t = p[a] * stride[a] + k[a] * dilation[a] - before[a];
            inside = inside && t >= 0 && t < to[a];
            target = target * to[a] + t;
          }
          const std::int64_t group = i / (channels / groups), volume = weights.shape.count(2, weights.shape.rank());
          for (std::int64_t o = 0; inside && o < per_group; ++o)
            y[(n * outputs + target) * filters + group * per_group + o] +=
                weights[(i * per_group + o) * volume + k_number] * x[at];
          ++k_number;
        });
      }
    });
  return y;
}

inline Array batch_norm(Args& args, const Inputs& in, const Context& context) {
  const Array& x = in[0];
  const double eps = args.real("eps", 1e-5);
  const bool scale = args.flag("scale", true), shift = args.flag("shift", true), frozen = args.flag("frozen", false);
  const Array &running_mean = in[in.size() - 2], &running_variance = in[in.size() - 1];
  const std::int64_t channels = x.shape[-1], rows = x.shape.count() / channels;
  Array y(x.shape);
  for (std::int64_t c = 0; c < channels; ++c) {
    double mean = running_mean[c], variance = running_variance[c];
    if (context.training && !frozen) {
      mean = variance = 0;
      for (std::int64_t r = 0; r < rows; ++r) mean += x[r * channels + c] / static_cast<double>(rows);
      for (std::int64_t r = 0; r < rows; ++r)
        variance += std::pow(x[r * channels + c] - mean, 2) / static_cast<double>(rows);
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      double v = (x[r * channels + c] - mean) / std::sqrt(variance + eps);
      if (scale) v *= in[1][c];
      if (shift) v += in[scale ? 2 : 1][c];
      y[r * channels + c] = v;
    }
  }
  return y;
}

inline Array layer_norm(Args& args, const Inputs& in, const Context&) {
  const Array& x = in[0];
  const std::int64_t given = args.integer("axis", -1);
  const int axis = static_cast<int>(given < 0 ? given + x.shape.rank() : given);
  const double eps = args.real("eps", 1e-5);
  const bool scale = args.flag("scale", true), shift = args.flag("shift", true);
  const std::int64_t length = x.shape.count(axis, x.shape.rank());
  Array y(x.shape);
  for (std::int64_t first = 0; first < x.shape.count(); first += length) {
    double mean = 0, variance = 0;
    for (std::int64_t i = 0; i < length; ++i) mean += x[first + i] / static_cast<double>(length);
    for (std::int64_t i = 0; i < length; ++i)
      variance += std::pow(x[first + i] - mean, 2) / static_cast<double>(length);
    for (std::int64_t i = 0; i < length; ++i) {
      double v = (x[first + i] - mean) / std::sqrt(variance + eps);
      if (scale) v *= in[1][i];
      if (shift) v += in[scale ? 2 : 1][i];
      y[first + i] = v;
    }
  }
  return y;
}

inline Array lrn(Args& args, const Inputs& in, const Context&) {
  const Array& x = in[0];
  const std::int64_t size = args.integer("size", 5), less = (size - 1) / 2, more = size / 2;
  const double alpha = args.real("alpha", 1e-4), beta = args.real("beta", 0.75), k = args.real("k", 1);
  const bool within = args.text("region", "across") == "within";
  const std::int64_t channels = x.shape[-1], h = within ? x.shape[1] : 1, w = within ? x.shape[2] : 1;
  const double volume = static_cast<double>(within ? size * size : size);
  Array y(x.shape);
  for (std::int64_t i = 0; i < x.shape.count(); ++i) {
    const std::int64_t c = i % channels, column = i / channels % w, row = i / channels / w % h;
    double sum = 0;
    if (within)
      for (std::int64_t dr = -less; dr <= more; ++dr)
        for (std::int64_t dc = -less; dc <= more; ++dc)
          if (row + dr >= 0 && row + dr < h && column + dc >= 0 && column + dc < w)
            sum += std::pow(x[i + (dr * w + dc) * channels], 2);
    if (!within)
      for (std::int64_t d = -less; d <= more; ++d)
        if (c + d >= 0 && c + d < channels) sum += std::pow(x[i + d], 2);
    y[i] = x[i] * std::pow(k + alpha / volume * sum, -beta);
  }
  return y;
}

inline Array matmul(Args& args, const Inputs& in, const Context&) {
  const bool ta = args.flag("transpose_a", false), tb = args.flag("transpose_b", false);
  const Array &a = in[0], &b = in[1];
  const std::int64_t m = a.shape[ta ? -1 : -2], k = a.shape[ta ? -2 : -1], n = b.shape[tb ? -2 : -1];
  const int axes = std::max(a.shape.rank(), b.shape.rank());
  // The operand's extent along leading axis i of the result: 1 where it is broadcast.
  const auto extent = [&](const Array& x, int i) {
    const int axis = i - (axes - x.shape.rank());
    return axis < 0 ? 1 : x.shape[axis];
  };
  ops::Extents front, shape;
  for (int i = 0; i < axes - 2; ++i) front.push_back(std::max(extent(a, i), extent(b, i)));
  shape = front;
  shape.insert(shape.end(), {m, n});
  Array y{Shape(shape)};
  std::int64_t at = 0;
  for_all(front, [&](const ops::Extents& p) {
    const auto matrix = [&](const Array& x) {
      std::int64_t number = 0;
      for (int i = 0; i < axes - 2; ++i)
        number = number * extent(x, i) + (extent(x, i) == 1 ? 0 : p[static_cast<std::size_t>(i)]);
      return number;
    };
    const std::int64_t first_a = matrix(a) * m * k, first_b = matrix(b) * k * n;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j, ++at)
        for (std::int64_t l = 0; l < k; ++l)
          y[at] += a[first_a + (ta ? l * m + i : i * k + l)] * b[first_b + (tb ? j * k + l : l * n + j)];
  });
  return y;
}

inline Array attention(Args& args, const Inputs& in, const Context&) {
  const Array &q = in[0], &k = in[1], &v = in[2];
  const std::int64_t heads = args.integer("heads", 1), width = q.shape[2], part = width / heads;
  const bool causal = args.flag("causal", false);
  Array y(q.shape);
  for (std::int64_t row = 0; row < q.shape[0] * q.shape[1]; ++row)
    for (std::int64_t first = 0; first < width; first += part) {
      const std::int64_t t = row % q.shape[1], keys = row / q.shape[1] * k.shape[1];
      double sum = 0;
      for (std::int64_t s = 0; s < (causal ? std::min(t + 1, k.shape[1]) : k.shape[1]); ++s) {
        double z = 0;
        for (std::int64_t c = first; c < first + part; ++c) z += q[row * width + c] * k[(keys + s) * width + c];
        const double weight = std::exp(z / std::sqrt(static_cast<double>(part)));
        sum += weight;
        for (std::int64_t c = first; c < first + part; ++c) y[row * width + c] += weight * v[(keys + s) * width + c];
      }
      for (std::int64_t c = first; c < first + part; ++c) y[row * width + c] /= sum;
    }
  return y;
}

/// Axis by axis: the weight of each input position for each output position, from the definition of the kernels.
inline Array resize(Args& args, const Inputs& in, const Context&) {
  Array x = in[0];
  const std::string kind = args.text("kind", "nearest"), coordinates = args.text("coordinates", "half_pixel");
  const std::string rounding = args.text("rounding", "round_prefer_floor");
  const double a = args.real("cubic_a", -0.75);
  const bool exclude = args.flag("exclude_outside", false);
  const auto pick = [](const std::vector<double>& list, int i) {
    return list[list.size() == 1 ? 0 : static_cast<std::size_t>(i)];
  };
  for (int axis = 0; axis < in[0].shape.rank() - 2; ++axis) {
    const std::vector<double> factor = args.reals("factor", {}), size = args.reals("size", {});
    const double n = static_cast<double>(x.shape[axis + 1]);
    const double out = size.empty() ? std::floor(n * pick(factor, axis)) : pick(size, axis);
    double scale = out / n;
    if (args.has("scales")) scale = pick(args.reals("scales", {}), axis);
    Shape shape = x.shape;
    shape[axis + 1] = static_cast<std::int64_t>(out);
    Array y(shape);
    const std::int64_t inner = shape.count(axis + 2, shape.rank());
    for (std::int64_t i = 0; i < shape.count(); ++i) {
      const std::int64_t p = i / inner % shape[axis + 1], outer = i / inner / shape[axis + 1];
      double at = (static_cast<double>(p) + 0.5) / scale - 0.5;
      if (coordinates == "asymmetric") at = static_cast<double>(p) / scale;
      if (coordinates == "align_corners") at = out == 1 ? 0 : static_cast<double>(p) * (n - 1) / (out - 1);
      if (coordinates == "pytorch_half_pixel" && out == 1) at = 0;
      if (kind == "nearest") {
        if (rounding == "floor") at = std::floor(at);
        if (rounding == "ceil") at = std::ceil(at);
        if (rounding == "round_prefer_floor") at = std::ceil(at - 0.5);
        if (rounding == "round_prefer_ceil") at = std::floor(at + 0.5);
      }
      double sum = 0, total = 0;
      for (double q = std::floor(at) - 2; q <= std::floor(at) + 3; ++q) {
        const double d = std::abs(q - at);
        double weight = d == 0 ? 1 : 0;
        if (kind == "linear") weight = std::max(0.0, 1 - d);
        if (kind == "cubic")
          weight = d <= 1  ? (a + 2) * d * d * d - (a + 3) * d * d + 1
                   : d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a
                           : 0;
        if (exclude && kind == "cubic" && (q < 0 || q >= n)) continue;
        const auto from = static_cast<std::int64_t>(std::clamp(q, 0.0, n - 1));
        sum += weight * x[(outer * x.shape[axis + 1] + from) * inner + i % inner];
        total += weight;
      }
      y[i] = sum / total;
    }
    x = y;
  }
  return x;
}

/// All three outputs: y, the last hidden state and the last cell state.
inline std::vector<Array> lstm_outputs(Args& args, const Inputs& in) {
  const Array& x = in[0];
  const std::int64_t units = args.integer("units"), batch = x.shape[0], steps = x.shape[1], features = x.shape[2];
  const std::string direction = args.text("direction", "forward");
  const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
  const bool bias = args.flag("bias", true), sequence = args.flag("sequence", true);
  const double forget_bias = args.real("forget_bias", 0);
  const std::size_t first = in.size() - (bias ? 3 : 2);
  const Array &w = in[first], &r = in[first + 1];
  const auto logistic = [](double v) { return 1 / (1 + std::exp(-v)); };
  Array all({batch, steps, directions * units}), h({directions, batch, units}), c(h.shape);
  if (first == 3) h = in[1], c = in[2];
  for (std::int64_t d = 0; d < directions; ++d)
    for (std::int64_t n = 0; n < batch; ++n)
      for (std::int64_t s = 0; s < steps; ++s) {
        const std::int64_t t = d == 1 || direction == "reverse" ? steps - 1 - s : s, state = (d * batch + n) * units;
        const Array before = h;
        const auto sum = [&](std::int64_t gate, std::int64_t u) {
          const std::int64_t row = (d * 4 + gate) * units + u;
          double v = bias ? in[first + 2][row] : 0;
          for (std::int64_t k = 0; k < features; ++k) v += w[row * features + k] * x[(n * steps + t) * features + k];
          for (std::int64_t k = 0; k < units; ++k) v += r[row * units + k] * before[state + k];
          return v;
        };
        for (std::int64_t u = 0; u < units; ++u) {
          c[state + u] = logistic(sum(1, u) + forget_bias) * c[state + u] + logistic(sum(0, u)) * std::tanh(sum(2, u));
          h[state + u] = logistic(sum(3, u)) * std::tanh(c[state + u]);
          all[((n * steps + t) * directions + d) * units + u] = h[state + u];
        }
      }
  if (sequence) return {all, h, c};
  Array last({batch, directions * units});
  for (std::int64_t i = 0; i < last.shape.count(); ++i)
    last[i] = h[(i / units % directions * batch + i / units / directions) * units + i % units];
  return {last, h, c};
}

/// All outputs as one row, as in the conformance test.
inline Array lstm(Args& args, const Inputs& in, const Context&) {
  Array row({1, 0});
  for (const Array& part : lstm_outputs(args, in))
    row.values.insert(row.values.end(), part.values.begin(), part.values.end());
  row.shape = {1, static_cast<std::int64_t>(row.values.size())};
  return row;
}

inline References nn_references() {
  return {
      {"attention", attention},
      {"batch_norm", batch_norm},
      {"deconv", deconv},
      {"layer_norm", layer_norm},
      {"log_softmax",
       [](Args& args, const Inputs& in, const Context& context) {
         return mapped(softmax(args, in, context), [](double v) { return std::log(v); });
       }},
      {"lrn", lrn},
      {"lstm", lstm},
      {"matmul", matmul},
      {"resize", resize},
  };
}

}  // namespace isobar::reference
