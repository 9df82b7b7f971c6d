// Writes layers with weights, pooling and normalisation. Windows are written with explicit padding: TensorFlow's SAME
// does not mean the same everywhere in files, and overhanging windows differ between versions.
#include <algorithm>

#include "isobar/onnx/exporter.hpp"
#include "isobar/ops/window.hpp"

namespace isobar::onnx {
namespace {

std::vector<std::int64_t> joined(std::vector<std::int64_t> a, const std::vector<std::int64_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Attributes window_attributes(const ops::Window& w) {
  std::vector<std::int64_t> after = w.after;
  for (std::size_t a = 0; a < after.size(); ++a) after[a] += w.overhang[a];
  return {{"kernel_shape", attribute(w.kernel)},
          {"strides", attribute(w.stride)},
          {"dilations", attribute(w.dilation)},
          {"pads", attribute(joined(w.before, after))}};
}

void conv(Exporter& e) {
  Args args = e.args();
  Attributes attributes = window_attributes(ops::WindowSpec(args, "kernel", false).fit(e.shape(0)));
  attributes["group"] = attribute(args.integer("groups", 1));
  std::vector<std::string> in{e.first(0), e.plain(1)};
  if (e.inputs() > 2) in.push_back(e.plain(2));
  e.give_first(0, e.emit("Conv", std::move(in), std::move(attributes)));
}

void deconv(Exporter& e) {
  Args args = e.args();
  const int axes = e.shape(0).rank() - 2;
  const auto all = [&](const char* key, std::int64_t otherwise) {
    return ops::spread(args.integers(key, {otherwise}), axes, key);
  };
  const auto kernel = all("kernel", 3), stride = all("stride", 1), dilation = all("dilation", 1);
  auto extra = all("output_padding", 0);
  std::vector<std::int64_t> before(kernel.size(), 0), after(kernel.size(), 0);
  const std::string padding = args.text("padding", "valid");
  if (padding != "valid" && padding != "same") {
    before = all("padding", 0);
    after = args.has("padding_after") ? all("padding_after", 0) : before;
  }
  // The output's extent determines what is cropped at the end; a negative number is padding of the output.
  for (std::size_t a = 0; a < kernel.size(); ++a) {
    const std::int64_t reach = (kernel[a] - 1) * dilation[a] + 1, in = e.shape(0)[a + 1];
    if (padding == "same") before[a] = std::max<std::int64_t>(reach - stride[a], 0) / 2;
    const std::int64_t over = (in - 1) * stride[a] + reach + extra[a] - before[a] - e.out_shape()[a + 1];
    after[a] = std::max<std::int64_t>(over, 0);
    extra[a] += std::max<std::int64_t>(-over, 0);
  }
  std::vector<std::string> in{e.first(0), e.plain(1)};
  if (e.inputs() > 2) in.push_back(e.plain(2));
  e.give_first(0, e.emit("ConvTranspose", std::move(in),
                         {{"kernel_shape", attribute(kernel)},
                          {"strides", attribute(stride)},
                          {"dilations", attribute(dilation)},
                          {"pads", attribute(joined(before, after))},
                          {"output_padding", attribute(extra)},
                          {"group", attribute(args.integer("groups", 1))}}));
}

// For a matrix, a Gemm; for more axes, a product with the transposed weight, so that a tied weight stays one weight.
void dense(Exporter& e) {
  if (e.shape(0).rank() == 2) {
    std::vector<std::string> in{e.plain(0), e.plain(1)};
    if (e.inputs() > 2) in.push_back(e.plain(2));
    return e.give_plain(0, e.emit("Gemm", std::move(in), {{"transB", attribute(1)}}));
  }
  const std::string weight = e.emit("Transpose", {e.plain(1)}, {{"perm", attribute(std::vector<std::int64_t>{1, 0})}});
  std::string y = e.emit("MatMul", {e.plain(0), weight});
  if (e.inputs() > 2) y = e.emit("Add", {y, e.plain(2)});
  e.give_plain(0, y);
}

void max_pool(Exporter& e) {
  Args args = e.args();
  e.give_first(
      0, e.emit("MaxPool", {e.first(0)}, window_attributes(ops::WindowSpec(args, "window", true).fit(e.shape(0)))));
}

void average_pool(Exporter& e) {
  Args args = e.args();
  ops::Window w = ops::WindowSpec(args, "window", true).fit(e.shape(0));
  const bool include = args.flag("include_padding", false);
  const bool hangs = std::any_of(w.overhang.begin(), w.overhang.end(), [](std::int64_t o) { return o > 0; });
  Attributes attributes = window_attributes(w);
  if (include && hangs) {  // padding counts, overhang does not: only ceil_mode expresses that
    attributes["pads"] = attribute(joined(w.before, w.after));
    attributes["ceil_mode"] = attribute(1);
  }
  attributes["count_include_pad"] = attribute(include ? 1 : 0);
  attributes.erase("dilations");  // only since version 19; a dilation above 1 is an error below
  if (std::any_of(w.dilation.begin(), w.dilation.end(), [](std::int64_t d) { return d > 1; }))
    fail("average_pool '{}' has a dilation, which ONNX's AveragePool lacks", e.node().name);
  e.give_first(0, e.emit("AveragePool", {e.first(0)}, std::move(attributes)));
}

void global_pool(Exporter& e) {
  Args args = e.args();
  const char* op = args.text("kind", "average") == "max" ? "GlobalMaxPool" : "GlobalAveragePool";
  e.give_plain(0, e.emit("Flatten", {e.emit(op, {e.first(0)})}, {{"axis", attribute(1)}}));
}

void batch_norm(Exporter& e) {
  Args args = e.args();
  const std::size_t channels = e.shape(0)[-1];
  const Dims dims{static_cast<std::int64_t>(channels)};
  std::size_t next = 1;
  std::vector<std::string> in{e.first(0)};
  in.push_back(args.flag("scale", true) ? e.plain(next++) : e.constant(dims, std::vector<float>(channels, 1.0f)));
  in.push_back(args.flag("shift", true) ? e.plain(next++) : e.constant(dims, std::vector<float>(channels, 0.0f)));
  in.push_back(e.plain(next));
  in.push_back(e.plain(next + 1));
  e.give_first(0, e.emit("BatchNormalization", std::move(in),
                         {{"epsilon", attribute(args.real("eps", 1e-5))},
                          {"momentum", attribute(1 - args.real("momentum", 0.1))}}));
}

void layer_norm(Exporter& e) {
  Args args = e.args();
  const int rank = e.shape(0).rank();
  const std::int64_t axis = args.integer("axis", -1), first = axis < 0 ? axis + rank : axis;
  const Dims tail(e.shape(0).extents().begin() + first, e.shape(0).extents().end());
  const std::size_t count = e.shape(0).count(first, rank);
  std::size_t next = 1;
  std::vector<std::string> in{e.plain(0)};
  in.push_back(args.flag("scale", true) ? e.plain(next++) : e.constant(tail, std::vector<float>(count, 1.0f)));
  if (args.flag("shift", true)) in.push_back(e.plain(next));
  e.give_plain(0, e.emit("LayerNormalization", std::move(in),
                         {{"axis", attribute(first)}, {"epsilon", attribute(args.real("eps", 1e-5))}}));
}

// Within channels: x / (k + alpha * mean over the window of x^2)^beta, where zeros outside count.
void lrn(Exporter& e) {
  Args args = e.args();
  const std::int64_t size = args.integer("size", 5);
  const double alpha = args.real("alpha", 1e-4), beta = args.real("beta", 0.75), k = args.real("k", 1);
  if (args.text("region", "across") == "across")
    return e.give_first(0, e.emit("LRN", {e.first(0)},
                                  {{"size", attribute(size)},
                                   {"alpha", attribute(alpha)},
                                   {"beta", attribute(beta)},
                                   {"bias", attribute(k)}}));
  const std::int64_t less = (size - 1) / 2, more = size / 2;
  const std::string square = e.emit("Mul", {e.first(0), e.first(0)});
  const std::string mean = e.emit("AveragePool", {square},
                                  {{"kernel_shape", attribute(std::vector{size, size})},
                                   {"pads", attribute(std::vector{less, less, more, more})},
                                   {"count_include_pad", attribute(1)}});
  const std::string base = e.emit("Add", {e.emit("Mul", {mean, e.scalar(alpha)}), e.scalar(k)});
  e.give_first(0, e.emit("Div", {e.first(0), e.emit("Pow", {base, e.scalar(beta)})}));
}

void resize(Exporter& e) {
  Args args = e.args();
  const Shape &x = e.shape(0), &y = e.out_shape();
  std::vector<double> given = args.reals("scales", {});
  if (given.empty() && args.has("factor")) given = args.reals("factor", {});
  Attributes attributes{{"mode", attribute(args.text("kind", "nearest").c_str())},
                        {"coordinate_transformation_mode", attribute(args.text("coordinates", "half_pixel").c_str())},
                        {"nearest_mode", attribute(args.text("rounding", "round_prefer_floor").c_str())},
                        {"cubic_coeff_a", attribute(args.real("cubic_a", -0.75))},
                        {"exclude_outside", attribute(args.flag("exclude_outside", false) ? 1 : 0)}};
  const int rank = x.rank();
  std::vector<float> scales{1, 1};
  std::vector<std::int64_t> sizes{x[0], x[-1]};
  for (int a = 1; a < rank - 1; ++a) {
    const double ratio = static_cast<double>(y[a]) / x[a];
    scales.push_back(static_cast<float>(given.empty() ? ratio : given[given.size() == 1 ? 0 : a - 1]));
    sizes.push_back(y[a]);
  }
  // Sizes would fix the batch, scales leave it open, so scales are written if they give these sizes.
  bool exact = true;
  for (int a = 1; a < rank - 1; ++a)
    exact = exact && static_cast<std::int64_t>(static_cast<double>(scales[a + 1]) * static_cast<double>(x[a])) == y[a];
  std::vector<std::string> in{e.first(0), ""};
  if (exact) {
    in.push_back(e.constant({rank}, scales));
  } else {
    in.insert(in.end(), {"", e.constant(sizes)});
    e.fix_batch();
  }
  e.give_first(0, e.emit("Resize", std::move(in), std::move(attributes)));
}

}  // namespace

std::span<const ExportRule> export_layers() {
  static constexpr ExportRule all[] = {
      {"conv", conv},
      {"deconv", deconv},
      {"dense", dense},
      {"max_pool", max_pool},
      {"average_pool", average_pool},
      {"global_pool", global_pool},
      {"batch_norm", batch_norm},
      {"layer_norm", layer_norm},
      {"lrn", lrn},
      {"resize", resize},
  };
  return all;
}

}  // namespace isobar::onnx
