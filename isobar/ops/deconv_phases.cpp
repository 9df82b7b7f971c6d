#include "isobar/ops/deconv_phases.hpp"

#include <algorithm>
#include <string_view>

#include "isobar/base/loops.hpp"
#include "isobar/ops/primitive.hpp"
#include "isobar/ops/turned_weights.hpp"

namespace isobar::ops {
namespace {

// Output positions remainder + stride * j, j < count, along every axis.
struct PartialForward {
  Extents remainder, count;
  dnnl::convolution_forward::primitive_desc chosen;
  dnnl::convolution_forward convolution;
  TurnedWeights weights;
};

// y at the positions of a phase = z; z [batch, count..., channels], missing leading axes have extent 1.
struct Spread {
  std::int64_t batch, channels;
  std::int64_t count[3]{1, 1, 1}, remainder[3]{0, 0, 0}, stride[3]{1, 1, 1}, out[3]{1, 1, 1};

  void copy(const float* z, float* y) const {
    const auto line = [&](std::int64_t number, std::int64_t) {
      const std::int64_t j = number % count[1], i = number / count[1] % count[0], n = number / count[1] / count[0];
      const std::int64_t row = (n * out[0] + remainder[0] + stride[0] * i) * out[1] + remainder[1] + stride[1] * j;
      const float* from = z + number * count[2] * channels;
      float* to = y + (row * out[2] + remainder[2]) * channels;
      for (std::int64_t k = 0; k < count[2]; ++k, from += channels, to += stride[2] * channels)
        std::copy_n(from, channels, to);
    };
    in_parts(batch * count[0] * count[1], line, 1);
  }
};

// The phase with these remainders, or nothing if the forward convolution is not available or not fast.
std::optional<PartialForward> phase(const Setting& setting, const Transposed& p, const Extents& remainder) {
  const std::size_t axes = remainder.size();
  Extents count, first, before, after, w{p.y[-1], p.x[-1]}, ones(axes, 1), none(axes, 0);
  Shape z = p.y;
  for (std::size_t a = 0; a < axes; ++a) {
    const std::int64_t stride = p.window.stride[a], in = p.x[a + 1];
    const std::int64_t out = p.y[a + 1], reach = remainder[a] + p.window.before[a];
    first.push_back(reach % stride);
    const std::int64_t taps = (p.window.kernel[a] - first[a] + stride - 1) / stride;
    count.push_back((out - remainder[a] + stride - 1) / stride);
    before.push_back(taps - 1 - reach / stride);
    after.push_back(count[a] + taps - 1 - in - before[a]);
    if (first[a] >= p.window.kernel[a] || count[a] < 1 || before[a] < 0 || after[a] < 0) return std::nullopt;
    w.push_back(taps);
    z[a + 1] = count[a];
  }
  const dnnl::convolution_forward::desc desc(dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct,
                                             channels_last(p.x), any_layout(w), p.bias ? plain({p.y[-1]}) : Layout(),
                                             channels_last(z), ones, none, before, after);
  try {
    const dnnl::convolution_forward::primitive_desc chosen(desc, own_scratchpad(), setting.engine);
    if (!std::string_view(chosen.impl_info_str()).starts_with("brgconv")) return std::nullopt;
    return PartialForward{remainder, count, chosen, dnnl::convolution_forward(chosen),
                          TurnedWeights(p.w, chosen.weights_desc(), first, p.window.stride)};
  } catch (const dnnl::error&) {
    return std::nullopt;  // oneDNN cannot do this shape forward
  }
}

Spread spread_of(const Transposed& p, const PartialForward& phase) {
  Spread s{p.x[0], p.y[-1]};
  for (std::size_t a = 0, at = 3 - phase.count.size(); at < 3; ++a, ++at) {
    s.count[at] = phase.count[a];
    s.remainder[at] = phase.remainder[a];
    s.stride[at] = p.window.stride[a];
    s.out[at] = p.y[a + 1];
  }
  return s;
}

}  // namespace

std::optional<Kernel> deconv_by_phases(const Setting& setting, const Transposed& p, const char* name, Category category,
                                       double flops) {
  const auto& gap = p.window.dilation;
  const bool dense = std::all_of(gap.begin(), gap.end(), [](std::int64_t d) { return d == 1; });
  if (!dense || p.w.data.ndims != p.x.rank() || p.w.data.format_kind != dnnl_blocked) return std::nullopt;
  std::vector<Extents> remainders{{}};
  for (const std::int64_t stride : p.window.stride) {
    std::vector<Extents> next;
    for (const Extents& r : remainders)
      for (std::int64_t i = 0; i < stride; ++i) next.push_back(r), next.back().push_back(i);
    remainders = std::move(next);
  }
  std::vector<PartialForward> phases;
  std::int64_t weights = 1, part = 1, scratch = 1;
  for (const Extents& r : remainders) {
    auto made = phase(setting, p, r);
    if (!made) return std::nullopt;
    weights = std::max(weights, padded_count(made->chosen.weights_desc()));
    part = std::max(part, padded_count(made->chosen.dst_desc()));
    scratch = std::max<std::int64_t>(scratch, made->chosen.scratchpad_desc().get_size());
    phases.push_back(std::move(*made));
  }
  const bool direct = phases.size() == 1;  // stride 1: y itself
  Kernel kernel{name, category};
  kernel.flops = flops;
  kernel.reads = {{p.from, channels_last(p.x)}, {{Slot::Kind::x, 1}, p.w}};
  if (p.bias) kernel.reads.push_back({{Slot::Kind::x, 2}, plain({p.y[-1]})});
  kernel.writes = {{p.to, channels_last(p.y)},
                   {{Slot::Kind::temp, p.first_temporary}, plain({weights})},
                   {{Slot::Kind::temp, p.first_temporary + 1}, plain({(scratch + 3) / 4})}};
  if (!direct) kernel.writes.push_back({{Slot::Kind::temp, p.first_temporary + 2}, plain({part})});
  kernel.run = [p, phases, direct](const Moment& moment, std::span<const dnnl::memory> m) {
    const auto out = m.subspan(p.bias ? 3 : 2);
    dnnl::stream stream = moment.stream;
    const dnnl::engine engine = stream.get_engine();
    for (const PartialForward& phase : phases) {
      phase.weights.copy(floats(m[1]), floats(out[1]));
      const dnnl::memory& z = direct ? out[0] : out[3];
      std::unordered_map<int, dnnl::memory> arguments{
          {DNNL_ARG_SRC, m[0]},
          {DNNL_ARG_WEIGHTS, {phase.chosen.weights_desc(), engine, out[1].get_data_handle()}},
          {DNNL_ARG_DST, {phase.chosen.dst_desc(), engine, z.get_data_handle()}},
          {DNNL_ARG_SCRATCHPAD, {phase.chosen.scratchpad_desc(), engine, out[2].get_data_handle()}}};
      if (p.bias) arguments.emplace(DNNL_ARG_BIAS, m[2]);
      phase.convolution.execute(stream, arguments);
      stream.wait();
      if (!direct) spread_of(p, phase).copy(floats(z), floats(out[0]));
    }
  };
  return kernel;
}

}  // namespace isobar::ops
