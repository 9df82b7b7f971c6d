// Naive references of all operators in double precision, straight from the formulas, for the conformance tests, which
// fail for an operator without a row in references().
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "isobar/base/random.hpp"
#include "isobar/base/spec.hpp"
#include "isobar/ops/window.hpp"
#include "isobar/tensor/shape.hpp"

#include "tests/ops/reference_base.hpp"
#include "tests/ops/reference_functions.hpp"
#include "tests/ops/reference_loss.hpp"
#include "tests/ops/reference_shape.hpp"

namespace isobar::reference {

/// Calls visit(position) for all positions within extents; the last axis varies fastest.
inline void for_all(const ops::Extents& extents, const std::function<void(const ops::Extents&)>& visit) {
  ops::Extents at(extents.size(), 0);
  while (true) {
    visit(at);
    std::size_t axis = extents.size();
    while (axis-- > 0 && ++at[axis] == extents[axis]) at[axis] = 0;
    if (axis > extents.size()) return;
  }
}

/// Number of the position under window element k of output position p, or -1 in the padding.
inline std::int64_t source(const ops::Window& w, const Shape& x, const ops::Extents& p, const ops::Extents& k) {
  std::int64_t number = 0;
  for (std::size_t a = 0; a < p.size(); ++a) {
    const std::int64_t i = p[a] * w.stride[a] + k[a] * w.dilation[a] - w.before[a], n = x[static_cast<int>(a) + 1];
    if (i < 0 || i >= n) return -1;
    number = number * n + i;
  }
  return number;
}

inline Shape windowed_shape(const ops::Window& w, std::int64_t rows, std::int64_t channels) {
  std::vector<std::int64_t> extents{rows};
  extents.insert(extents.end(), w.out.begin(), w.out.end());
  extents.push_back(channels);
  return Shape(extents);
}

inline Array conv(Args& args, const Inputs& in, const Context&) {
  const Array &x = in[0], &weights = in[1];
  const ops::Window w = ops::WindowSpec(args, "kernel", false).fit(x.shape);
  const std::int64_t groups = args.integer("groups", 1), filters = args.integer("filters");
  const std::int64_t channels = x.shape[-1], per_group = channels / groups, volume = w.volume();
  const std::int64_t positions = x.shape.count(1, x.shape.rank() - 1);
  Array y(windowed_shape(w, x.shape[0], filters));
  std::int64_t at = 0;
  for (std::int64_t n = 0; n < x.shape[0]; ++n)
    for_all(w.out, [&](const ops::Extents& p) {
      for (std::int64_t o = 0; o < filters; ++o, ++at) {
        if (in.size() > 2) y[at] = in[2][o];
        std::int64_t k_number = 0;
        for_all(w.kernel, [&](const ops::Extents& k) {
          const std::int64_t s = source(w, x.shape, p, k), first = o / (filters / groups) * per_group;
          for (std::int64_t i = 0; s >= 0 && i < per_group; ++i)
            y[at] += weights[(o * per_group + i) * volume + k_number] * x[(n * positions + s) * channels + first + i];
          ++k_number;
        });
      }
    });
  return y;
}

inline Array pool(Args& args, const Inputs& in, bool max) {
  const Array& x = in[0];
  const ops::Window w = ops::WindowSpec(args, "window", true).fit(x.shape);
  const bool include = !max && args.flag("include_padding", false);
  const std::int64_t channels = x.shape[-1], positions = x.shape.count(1, x.shape.rank() - 1);
  Array y(windowed_shape(w, x.shape[0], channels));
  std::int64_t at = 0;
  for (std::int64_t n = 0; n < x.shape[0]; ++n)
    for_all(w.out, [&](const ops::Extents& p) {
      for (std::int64_t c = 0; c < channels; ++c, ++at) {
        std::vector<double> seen;
        std::int64_t counted = 0;  // elements of the window up to the end of the padding
        for_all(w.kernel, [&](const ops::Extents& k) {
          const std::int64_t s = source(w, x.shape, p, k);
          bool inside = true;
          for (std::size_t a = 0; a < k.size(); ++a)
            inside &=
                p[a] * w.stride[a] + k[a] * w.dilation[a] < x.shape[static_cast<int>(a) + 1] + w.before[a] + w.after[a];
          counted += inside;
          if (s >= 0) seen.push_back(x[(n * positions + s) * channels + c]);
        });
        double sum = 0;
        for (const double v : seen) sum += v;
        y[at] = max ? *std::max_element(seen.begin(), seen.end())
                    : sum / static_cast<double>(include ? counted : static_cast<std::int64_t>(seen.size()));
      }
    });
  return y;
}

inline Array global_pool(Args& args, const Inputs& in, const Context&) {
  const bool max = args.text("kind", "average") == "max";
  const Array& x = in[0];
  const std::int64_t channels = x.shape[-1], positions = x.shape.count(1, x.shape.rank() - 1);
  Array y({x.shape[0], channels});
  for (std::int64_t i = 0; i < y.shape.count(); ++i) {
    const std::int64_t first = i / channels * positions * channels + i % channels;
    y[i] = x[first];
    for (std::int64_t s = 1; s < positions; ++s)
      y[i] = max ? std::max(y[i], x[first + s * channels]) : y[i] + x[first + s * channels];
    if (!max) y[i] /= static_cast<double>(positions);
  }
  return y;
}

inline Array dense(Args& args, const Inputs& in, const Context&) {
  const std::int64_t units = args.integer("units"), features = in[0].shape[-1];
  Shape shape = in[0].shape;
  shape[-1] = units;
  Array y(shape);
  for (std::int64_t i = 0; i < y.shape.count(); ++i) {
    const std::int64_t n = i / units, o = i % units;
    if (in.size() > 2) y[i] = in[2][o];
    for (std::int64_t k = 0; k < features; ++k) y[i] += in[1][o * features + k] * in[0][n * features + k];
  }
  return y;
}

inline Array dropout(Args& args, const Inputs& in, const Context& context) {
  const double rate = args.real("rate", 0.5);
  const Array& x = in[0];
  if (!context.training) return x;
  const std::int64_t length = x.shape.count(1, x.shape.rank());
  Array y(x.shape);
  for (std::int64_t i = 0; i < x.shape.count(); ++i) {
    const std::int64_t sample = context.samples[static_cast<std::size_t>(i / length)], e = i % length;
    const Random random = Random(context.seed, context.site)
                              .sub(static_cast<std::uint64_t>(context.epoch))
                              .sub(static_cast<std::uint64_t>(sample));
    const double u = random.block(static_cast<std::uint64_t>(e / 4))[static_cast<std::size_t>(e % 4)] * 0x1p-32;
    y[i] = u < rate ? 0 : x[i] / (1 - rate);
  }
  return y;
}

inline Array concat(Args& args, const Inputs& in, const Context&) {
  const std::int64_t given = args.integer("axis", -1);
  const int axis = static_cast<int>(given < 0 ? given + in[0].shape.rank() : given);
  Shape shape = in[0].shape;
  for (std::size_t k = 1; k < in.size(); ++k) shape[axis] += in[k].shape[axis];
  Array y(shape);
  std::int64_t offset = 0;
  for (const Array& x : in) {
    const std::int64_t inner = x.shape.count(axis, x.shape.rank()), row = shape.count(axis, shape.rank());
    for (std::int64_t i = 0; i < x.shape.count(); ++i) y[i / inner * row + offset + i % inner] = x[i];
    offset += inner;
  }
  return y;
}

inline Array softmax(Args& args, const Inputs& in, const Context&) {
  Array y = mapped(in[0], [](double v) { return std::exp(v); });
  const std::int64_t given = args.integer("axis", -1);
  const int axis = static_cast<int>(given < 0 ? given + y.shape.rank() : given);
  const std::int64_t classes = y.shape[axis], step = y.shape.count(axis + 1, y.shape.rank());
  for (std::int64_t i = 0; i < y.shape.count(); ++i) {
    if (i / step % classes != 0) continue;
    double sum = 0;
    for (std::int64_t c = 0; c < classes; ++c) sum += y[i + c * step];
    for (std::int64_t c = 0; c < classes; ++c) y[i + c * step] /= sum;
  }
  return y;
}

inline Array mse(Args&, const Inputs& in, const Context& context) {
  return mean_loss(in[0].shape, context, [&](std::int64_t i) { return std::pow(in[0][i] - in[1][i], 2); });
}

inline Array mae(Args&, const Inputs& in, const Context& context) {
  return mean_loss(in[0].shape, context, [&](std::int64_t i) { return std::abs(in[0][i] - in[1][i]); });
}

References nn_references();  // reference_nn.hpp

inline References basic_references() {
  return {
      {"average_pool", [](Args& args, const Inputs& in, const Context&) { return pool(args, in, false); }},
      {"concat", concat},
      {"conv", conv},
      {"dense", dense},
      {"dropout", dropout},
      {"flatten",
       [](Args&, const Inputs& in, const Context&) {
         return reshaped(in[0], {in[0].shape[0], in[0].shape.count() / in[0].shape[0]});
       }},
      {"global_pool", global_pool},
      {"leaky_relu",
       [](Args& args, const Inputs& in, const Context&) {
         const double slope = args.real("slope", 0.01);
         return mapped(in[0], [=](double v) { return v > 0 ? v : slope * v; });
       }},
      {"mae", mae},
      {"max_pool", [](Args& args, const Inputs& in, const Context&) { return pool(args, in, true); }},
      {"mse", mse},
      {"relu", [](Args&, const Inputs& in,
                  const Context&) { return mapped(in[0], [](double v) { return std::max(v, 0.0); }); }},
      {"scale",
       [](Args& args, const Inputs& in, const Context&) {
         const double by = args.real("by", 1);
         return mapped(in[0], [=](double v) { return by * v; });
       }},
      {"sigmoid", [](Args&, const Inputs& in,
                     const Context&) { return mapped(in[0], [](double v) { return 1 / (1 + std::exp(-v)); }); }},
      {"softmax", softmax},
      {"tanh",
       [](Args&, const Inputs& in, const Context&) { return mapped(in[0], [](double v) { return std::tanh(v); }); }},
  };
}

/// By the operator's name in the catalogue.
inline const References& references() {
  static const References all = [] {
    References joined = basic_references();
    joined.merge(nn_references());
    joined.merge(function_references());
    joined.merge(loss_references());
    joined.merge(shape_references());
    return joined;
  }();
  return all;
}

}  // namespace isobar::reference

#include "tests/ops/reference_nn.hpp"
