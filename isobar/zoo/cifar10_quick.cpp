// cifar10_quick: Caffe's quick CIFAR-10 network. Three convolutions 5 x 5, the first max-pooled and then rectified, the
// others rectified and then averaged, all by Caffe's ceil pooling 3/2; two dense layers with nothing in between.
// 145,578 parameters and 12.35 M multiply-adds at 32 x 32 x 3. Biases learn twice as fast and decay.
#include "isobar/zoo/network.hpp"
#include "isobar/zoo/width_scaling.hpp"

namespace isobar::zoo {
namespace {

class Cifar10Quick final : public Network {
 public:
  explicit Cifar10Quick(Args& args)
      : size_(args.integer("size", 32)),
        channels_(args.integer("channels", 3)),
        classes_(args.integer("classes", 10)),
        scale_(args) {
    args.require(size_ >= 12, "size must be at least 12: three poolings halve it");
    args.require(channels_ >= 1 && classes_ >= 2, "channels must be at least 1, classes at least 2");
  }

  void build(graph::Graph& graph, std::int64_t batch) const override {
    graph::ValueId h = graph.input("x", {batch, size_, size_, channels_});
    h = convolution(graph, h, 1, scale_(32), 1e-4);
    h = graph.add("max_pool(window=3, stride=2, ceil=true)", h, "pool1");
    h = graph.add("relu", h);
    h = convolution(graph, h, 2, scale_(32), 0.01);
    h = graph.add("relu", h);
    h = graph.add("average_pool(window=3, stride=2, ceil=true)", h, "pool2");
    h = convolution(graph, h, 3, scale_(64), 0.01);
    h = graph.add("relu", h);
    h = graph.add("average_pool(window=3, stride=2, ceil=true)", h, "pool3");
    h = graph.add("flatten", h);
    h = graph.add(fmt::format("dense(units={}, init=gaussian(std=0.1), bias_rate=2)", scale_(64)), h, "ip1");
    h = graph.add(fmt::format("dense(units={}, init=gaussian(std=0.1), bias_rate=2)", classes_), h, "ip2");
    graph.output("prediction", h);
  }

  Shape target(std::int64_t batch) const override { return {batch, 1}; }
  Spec loss() const override { return "softmax_cross_entropy"; }

 private:
  static graph::ValueId convolution(graph::Graph& graph, graph::ValueId h, int number, std::int64_t filters,
                                    double deviation) {
    return graph.add(
        fmt::format("conv(filters={}, kernel=5, padding=2, init=gaussian(std={}), bias_rate=2)", filters, deviation), h,
        fmt::format("conv{}", number));
  }

  std::int64_t size_, channels_, classes_;
  WidthScaling scale_;
};

}  // namespace

extern const Row<Network> cifar10_quick;
const Row<Network> cifar10_quick{
    "cifar10_quick", "Caffe's quick CIFAR-10 network: small photographs in ten classes",
    [](Args& args) -> std::unique_ptr<Network> { return std::make_unique<Cifar10Quick>(args); }};

}  // namespace isobar::zoo
