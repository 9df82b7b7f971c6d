// alexnet: Caffe's bvlc_alexnet. Five convolutions, the second, fourth and fifth in two groups, local response
// normalisation across channels after the first two, ceil pooling 3/2, three dense layers with dropout.
// 60,965,224 parameters and 724.4 M multiply-adds at 227 x 227 x 3. Biases learn twice as fast and do not decay.
// caffenet: Caffe's bvlc_reference_caffenet, the same layers with pooling before normalisation and biases that start at
// 1.
#include "isobar/zoo/network.hpp"
#include "isobar/zoo/width_scaling.hpp"

namespace isobar::zoo {
namespace {

struct AlexnetLayer {
  int kernel, filters, stride, padding, groups;
  bool biased;      // its biases start at AlexNetKind::bias
  bool normalised;  // followed by normalisation and pooling
};
constexpr AlexnetLayer alexnet_layers[] = {{11, 96, 4, 0, 1, false, true},
                                           {5, 256, 1, 2, 2, true, true},
                                           {3, 384, 1, 1, 1, false, false},
                                           {3, 384, 1, 1, 2, true, false},
                                           {3, 256, 1, 1, 2, true, false}};

// What distinguishes the two networks.
struct AlexNetKind {
  bool pool_first;  // pooling before normalisation, which then works on the smaller map
  double bias;      // initial value of the biases of conv2, conv4, conv5, fc6 and fc7; the others start at 0
};

class AlexNet final : public Network {
 public:
  AlexNet(Args& args, AlexNetKind kind)
      : kind_(kind),
        size_(args.integer("size", 227)),
        channels_(args.integer("channels", 3)),
        classes_(args.integer("classes", 1000)),
        scale_(args),
        dropout_(args.real("dropout", 0.5)) {
    args.require(size_ >= 55, "size must be at least 55: a convolution with stride 4 and three poolings follow");
    args.require(channels_ >= 1 && classes_ >= 2, "channels must be at least 1, classes at least 2");
  }

  void build(graph::Graph& graph, std::int64_t batch) const override {
    graph::ValueId h = graph.input("x", {batch, size_, size_, channels_});
    int number = 0;
    for (const AlexnetLayer& layer : alexnet_layers) {
      ++number;
      h = graph.add(fmt::format("conv(filters={}, kernel={}, stride={}, padding={}, groups={}, "
                                "init=gaussian(std=0.01), bias_init=constant(value={}), bias_rate=2, bias_decay=0)",
                                scale_(layer.filters, 2), layer.kernel, layer.stride, layer.padding, layer.groups,
                                layer.biased ? kind_.bias : 0),
                    h, fmt::format("conv{}", number));
      h = graph.add("relu", h);
      if (layer.normalised && !kind_.pool_first) h = normalisation(graph, h, number);
      if (layer.normalised || number == 5)
        h = graph.add("max_pool(window=3, stride=2, ceil=true)", h, fmt::format("pool{}", number));
      if (layer.normalised && kind_.pool_first) h = normalisation(graph, h, number);
    }
    h = graph.add("flatten", h);
    for (const int fc : {6, 7}) {
      h = dense(graph, h, fc, scale_(4096), 0.005, kind_.bias);
      h = graph.add("relu", h);
      if (dropout_ > 0) h = graph.add(fmt::format("dropout(rate={})", dropout_), h, fmt::format("drop{}", fc));
    }
    graph.output("prediction", dense(graph, h, 8, classes_, 0.01, 0));
  }

  Shape target(std::int64_t batch) const override { return {batch, 1}; }
  Spec loss() const override { return "softmax_cross_entropy"; }

 private:
  static graph::ValueId normalisation(graph::Graph& graph, graph::ValueId h, int number) {
    return graph.add("lrn(size=5, alpha=1e-4, beta=0.75)", h, fmt::format("norm{}", number));
  }

  static graph::ValueId dense(graph::Graph& graph, graph::ValueId h, int number, std::int64_t units, double deviation,
                              double bias) {
    return graph.add(fmt::format("dense(units={}, init=gaussian(std={}), bias_init=constant(value={}), bias_rate=2, "
                                 "bias_decay=0)",
                                 units, deviation, bias),
                     h, fmt::format("fc{}", number));
  }

  AlexNetKind kind_;
  std::int64_t size_, channels_, classes_;
  WidthScaling scale_;
  double dropout_;
};

}  // namespace

extern const Row<Network> alexnet{
    "alexnet", "Caffe's AlexNet: ImageNet photographs in 1000 classes", [](Args& args) -> std::unique_ptr<Network> {
      return std::make_unique<AlexNet>(args, AlexNetKind{.pool_first = false, .bias = 0.1});
    }};

extern const Row<Network> caffenet{"caffenet", "Caffe's reference network: AlexNet with pooling before normalisation",
                                   [](Args& args) -> std::unique_ptr<Network> {
                                     return std::make_unique<AlexNet>(args, AlexNetKind{.pool_first = true, .bias = 1});
                                   }};

}  // namespace isobar::zoo
