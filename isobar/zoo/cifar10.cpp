// cifar10_quick and cifar10_full: Caffe's two CIFAR-10 networks. Three convolutions 5 x 5, the first max-pooled and
// then rectified, the others rectified and then averaged, all by Caffe's ceil pooling 3/2; then dense layers with
// nothing in between. Biases learn twice as fast.
#include "isobar/zoo/network.hpp"
#include "isobar/zoo/width_scaling.hpp"

namespace isobar::zoo {
namespace {

class Cifar10 : public Network {
 public:
  explicit Cifar10(Args& args)
      : size_(args.integer("size", 32)),
        channels_(args.integer("channels", 3)),
        classes_(args.integer("classes", 10)),
        scale_(args) {
    args.require(size_ >= 12, "size must be at least 12: three poolings halve it");
    args.require(channels_ >= 1 && classes_ >= 2, "channels must be at least 1, classes at least 2");
  }

  Shape target(std::int64_t batch) const override { return {batch, 1}; }
  Spec loss() const override { return "softmax_cross_entropy"; }

 protected:
  // The three convolutions with their poolings and, unless it is empty, `normalisation` after the first two poolings.
  graph::ValueId features(graph::Graph& graph, std::int64_t batch, const char* third_learns,
                          std::string_view normalisation) const {
    constexpr const char* learns = "init=gaussian(std=0.01), bias_rate=2";
    graph::ValueId h = graph.input("x", {batch, size_, size_, channels_});
    h = convolution(graph, h, 1, scale_(32), "init=gaussian(std=0.0001), bias_rate=2");
    h = graph.add("max_pool(window=3, stride=2, ceil=true)", h, "pool1");
    h = graph.add("relu", h);
    if (!normalisation.empty()) h = graph.add(normalisation, h, "norm1");
    h = convolution(graph, h, 2, scale_(32), learns);
    h = graph.add("relu", h);
    h = graph.add("average_pool(window=3, stride=2, ceil=true)", h, "pool2");
    if (!normalisation.empty()) h = graph.add(normalisation, h, "norm2");
    h = convolution(graph, h, 3, scale_(64), third_learns);
    h = graph.add("relu", h);
    h = graph.add("average_pool(window=3, stride=2, ceil=true)", h, "pool3");
    return graph.add("flatten", h);
  }

  std::int64_t size_, channels_, classes_;
  WidthScaling scale_;

 private:
  static graph::ValueId convolution(graph::Graph& graph, graph::ValueId h, int number, std::int64_t filters,
                                    const char* learning) {
    return graph.add(fmt::format("conv(filters={}, kernel=5, padding=2, {})", filters, learning), h,
                     fmt::format("conv{}", number));
  }
};

// 145,578 parameters and 12.35 M multiply-adds at 32 x 32 x 3; two dense layers.
class Cifar10Quick final : public Cifar10 {
 public:
  using Cifar10::Cifar10;

  void build(graph::Graph& graph, std::int64_t batch) const override {
    graph::ValueId h = features(graph, batch, "init=gaussian(std=0.01), bias_rate=2", "");
    h = graph.add(fmt::format("dense(units={}, init=gaussian(std=0.1), bias_rate=2)", scale_(64)), h, "ip1");
    h = graph.add(fmt::format("dense(units={}, init=gaussian(std=0.1), bias_rate=2)", classes_), h, "ip2");
    graph.output("prediction", h);
  }
};

// 89,578 parameters and 12.30 M multiply-adds at 32 x 32 x 3; local response normalisation within channels and a single
// dense layer, whose weights decay 250 times as strongly.
class Cifar10Full final : public Cifar10 {
 public:
  using Cifar10::Cifar10;

  void build(graph::Graph& graph, std::int64_t batch) const override {
    // Caffe's file gives no multipliers for the third convolution.
    const graph::ValueId h =
        features(graph, batch, "init=gaussian(std=0.01)", "lrn(size=3, alpha=5e-5, beta=0.75, region=within)");
    graph.output("prediction",
                 graph.add(fmt::format("dense(units={}, init=gaussian(std=0.01), decay=250, bias_rate=2, bias_decay=0)",
                                       classes_),
                           h, "ip1"));
  }
};

}  // namespace

extern const Row<Network> cifar10_full{
    "cifar10_full", "Caffe's full CIFAR-10 network, with normalisation within channels", make_member<Cifar10Full>};

extern const Row<Network> cifar10_quick{
    "cifar10_quick", "Caffe's quick CIFAR-10 network: small photographs in ten classes", make_member<Cifar10Quick>};

}  // namespace isobar::zoo
