// deepcam: the network of the MLPerf-HPC DeepCAM benchmark: DeepLabv3+ with an Xception encoder of separable
// convolutions, output stride 16, batch normalisation everywhere, and transposed convolutions up to full resolution.
// 56,454,720 parameters and 0.655 TF forward at 768 x 1152 x 16. Encoder and pyramid have Kaiming initialisation, the
// rest PyTorch's default for convolutions.
#include <cmath>

#include "isobar/zoo/network.hpp"
#include "isobar/zoo/segmentation.hpp"
#include "isobar/zoo/width_scaling.hpp"

namespace isobar::zoo {
namespace {

constexpr const char* kaiming = "init=he_normal";
constexpr const char* torch = "init=torch_uniform";

// One residual block of the encoder.
struct Block {
  std::int64_t filters;
  int layers, stride;
  bool grow_first = true, last = false, rectified = true;
};

class DeepCam final : public Network {
 public:
  explicit DeepCam(Args& args)
      : height_(args.integer("height", 768)),
        width_(args.integer("width", 1152)),
        channels_(args.integer("channels", 16)),
        classes_(args.integer("classes", 3)),
        scale_(args),
        middle_(args.integer("middle", 16)) {
    args.require(channels_ >= 1 && classes_ >= 2, "channels must be at least 1, classes at least 2");
    args.require(middle_ >= 1, "middle, the number of equal blocks, must be at least 1");
    require_steps(args, height_, width_, 16);
  }

  void build(graph::Graph& graph, std::int64_t batch) const override {
    const graph::ValueId x = graph.input("x", {batch, height_, width_, channels_});
    graph::ValueId low;
    graph::ValueId h = pyramid(graph, encoder(graph, x, low));
    low = rectified(graph, conv(graph, low, scale_(48), "kernel=1", torch, "low"), "low");
    const std::int64_t filters = scale_(256);
    for (const int i : {1, 2}) h = enlarged(graph, h, i);
    h = graph.add("concat", {h, low}, "join_low");
    for (const int i : {1, 2}) {
      const std::string name = fmt::format("decoder{}", i);
      h = rectified(graph, conv(graph, h, filters, "kernel=3, padding=1", torch, name), name);
    }
    const double bound = 1 / std::sqrt(static_cast<double>(filters));  // as PyTorch for the bias of a 1 x 1 convolution
    h = graph.add(fmt::format("conv(filters={}, kernel=1, {}, bias_init=uniform(low={}, high={}))", filters, torch,
                              -bound, bound),
                  h, "decoder3");
    h = enlarged(graph, h, 3);
    graph.output("prediction", deconv(graph, h, classes_, "enlarge4"));
  }

  Shape target(std::int64_t batch) const override { return {batch, height_, width_}; }
  Spec loss() const override {
    if (classes_ != 3) return "softmax_cross_entropy";
    const auto weight = [](double frequency) { return std::pow(frequency, -0.125); };
    return fmt::format("softmax_cross_entropy(weights=[{:.5f}, {:.5f}, {:.5f}])", weight(0.986267818390377),
                       weight(0.0004578708870701058), weight(0.01327431072255291));
  }

 private:
  static graph::ValueId conv(graph::Graph& graph, graph::ValueId h, std::int64_t filters, const std::string& geometry,
                             const char* init, const std::string& name) {
    return graph.add(fmt::format("conv(filters={}, {}, {}, bias=false)", filters, geometry, init), h, name);
  }

  static graph::ValueId deconv(graph::Graph& graph, graph::ValueId h, std::int64_t filters, const std::string& name) {
    return graph.add(fmt::format("deconv(filters={}, kernel=3, stride=2, padding=1, output_padding=1, {}, bias=false)",
                                 filters, torch),
                     h, name);
  }

  static graph::ValueId normalised(graph::Graph& graph, graph::ValueId h, const std::string& name) {
    return graph.add("batch_norm(momentum=0.1, eps=1e-5)", h, name + "_norm");
  }

  static graph::ValueId rectified(graph::Graph& graph, graph::ValueId h, const std::string& name) {
    return graph.add("relu", normalised(graph, h, name), name + "_relu");
  }

  graph::ValueId enlarged(graph::Graph& graph, graph::ValueId h, int number) const {
    const std::string name = fmt::format("enlarge{}", number);
    return rectified(graph, deconv(graph, h, scale_(256), name), name);
  }

  // A depthwise convolution, then a 1 x 1 convolution of all channels.
  static graph::ValueId separable(graph::Graph& graph, graph::ValueId h, std::int64_t filters, int stride, int dilation,
                                  const std::string& name) {
    const std::int64_t channels = graph.value(h).shape[-1];
    h = conv(
        graph, h, channels,
        fmt::format("kernel=3, stride={}, dilation={}, padding={}, groups={}", stride, dilation, dilation, channels),
        kaiming, name + "_deep");
    return conv(graph, h, filters, "kernel=1", kaiming, name);
  }

  static graph::ValueId residual(graph::Graph& graph, graph::ValueId x, const Block& block, const std::string& name) {
    const std::int64_t channels = graph.value(x).shape[-1];
    graph::ValueId skip = x, h = x;
    if (block.filters != channels || block.stride > 1) {
      skip = conv(graph, x, block.filters, fmt::format("kernel=1, stride={}", block.stride), kaiming, name + "_skip");
      skip = normalised(graph, skip, name + "_skip");
    }
    for (int i = 1; i <= block.layers; ++i) {
      const std::string layer = fmt::format("{}_{}", name, i);
      const bool wide = block.grow_first || i == block.layers;
      h = separable(graph, h, wide ? block.filters : channels, 1, 1, layer);
      h = i < block.layers ? rectified(graph, h, layer) : normalised(graph, h, layer);
    }
    if (block.stride > 1 || block.last)
      h = separable(graph, h, block.filters, block.stride, 1, fmt::format("{}_{}", name, block.layers + 1));
    h = graph.add("add", {h, skip}, name);
    return block.rectified ? graph.add("relu", h, name + "_relu") : h;
  }

  // Returns the last features, and in `low` those at a quarter of the resolution.
  graph::ValueId encoder(graph::Graph& graph, graph::ValueId x, graph::ValueId& low) const {
    graph::ValueId h =
        rectified(graph, conv(graph, x, scale_(32), "kernel=3, stride=2, padding=1", kaiming, "conv1"), "conv1");
    h = rectified(graph, conv(graph, h, scale_(64), "kernel=3, padding=1", kaiming, "conv2"), "conv2");
    int number = 0;
    const auto next = [&](const Block& block) { h = residual(graph, h, block, fmt::format("block{}", ++number)); };
    next({scale_(128), 2, 2});
    low = h;
    next({scale_(256), 2, 2});
    next({scale_(728), 2, 2});
    for (std::int64_t i = 0; i < middle_; ++i) next({scale_(728), 3, 1});
    next({.filters = scale_(1024), .layers = 2, .stride = 1, .grow_first = false, .last = true, .rectified = false});
    for (const auto& [filters, name] : {std::pair{1536, "conv3"}, {1536, "conv4"}, {2048, "conv5"}})
      h = rectified(graph, separable(graph, h, scale_(filters), 1, 2, name), name);
    return h;
  }

  graph::ValueId pyramid(graph::Graph& graph, graph::ValueId x) const {
    const Shape& shape = graph.value(x).shape;
    const std::int64_t height = shape[1], width = shape[2], filters = scale_(256);
    std::vector<graph::ValueId> branches;
    for (const int rate : {1, 6, 12, 18}) {
      const std::string name = fmt::format("pyramid{}", rate);
      const std::string geometry =
          rate == 1 ? "kernel=1" : fmt::format("kernel=3, dilation={}, padding={}", rate, rate);
      branches.push_back(rectified(graph, conv(graph, x, filters, geometry, kaiming, name), name));
    }
    graph::ValueId image = graph.add("global_pool", x, "image");
    image = graph.add(fmt::format("dense(units={}, {}, bias=false)", filters, torch), image, "image_conv");
    image = graph.add("mul", {image, graph.parameter("image_scale", {"w", {filters}, "constant(value=1)"})});
    image = graph.add("add", {image, graph.parameter("image_shift", {"b", {filters}})});
    image = graph.add("relu", image);
    image = graph.add(fmt::format("reshape(shape=[1, 1, {}])", filters), image);
    branches.push_back(
        graph.add(fmt::format("resize(size=[{}, {}], kind=nearest)", height, width), image, "image_spread"));
    const graph::ValueId all = graph.add("concat", branches, "pyramid");
    return rectified(graph, conv(graph, all, filters, "kernel=1", torch, "pyramid_join"), "pyramid_join");
  }

  std::int64_t height_, width_, channels_, classes_;
  WidthScaling scale_;
  std::int64_t middle_;
};

}  // namespace

extern const Row<Network> deepcam{"deepcam", "MLPerf-HPC DeepCAM: extreme weather, pixel by pixel",
                                  make_member<DeepCam>};

}  // namespace isobar::zoo
