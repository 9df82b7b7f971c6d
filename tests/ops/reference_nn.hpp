// Naive references of normalisation, transposed convolution, products, resampling and recurrence, in double precision,
// straight from the formulas; joined to the others in reference.hpp.
#pragma once

#include "tests/ops/reference.hpp"

namespace isobar::reference {

/// Every input position adds its window to the output, whose extents are counted by the formula of the contract.
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

inline References nn_references() {
  return {
      {"batch_norm", batch_norm},
      {"deconv", deconv},
  };
}

}  // namespace isobar::reference
