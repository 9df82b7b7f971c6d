// cifar10_full: Caffe's full CIFAR-10 network: like cifar10_quick, but with local response normalisation within
// channels after the first two poolings and a single dense layer, whose weights decay 250 times as strongly.
// 89,578 parameters and 12.30 M multiply-adds at 32 x 32 x 3.
#include "isobar/zoo/network.hpp"
#include "isobar/zoo/width_scaling.hpp"

namespace isobar::zoo {
namespace {

class Cifar10Full final : public Network {
 public:
  explicit Cifar10Full(Args& args)
      : size_(args.integer("size", 32)),
        channels_(args.integer("channels", 3)),
        classes_(args.integer("classes", 10)),
        scale_(args) {
    args.require(size_ >= 12, "size must be at least 12: three poolings halve it");
    args.require(channels_ >= 1 && classes_ >= 2, "channels must be at least 1, classes at least 2");
  }

  void build(graph::Graph& graph, std::int64_t batch) const override {
    constexpr const char* normalisation = "lrn(size=3, alpha=5e-5, beta=0.75, region=within)";
    graph::ValueId h = graph.input("x", {batch, size_, size_, channels_});
    h = convolution(graph, h, 1, scale_(32), "init=gaussian(std=0.0001), bias_rate=2");
    h = graph.add("max_pool(window=3, stride=2, ceil=true)", h, "pool1");
    h = graph.add("relu", h);
    h = graph.add(normalisation, h, "norm1");
    h = convolution(graph, h, 2, scale_(32), "init=gaussian(std=0.01), bias_rate=2");
    h = graph.add("relu", h);
    h = graph.add("average_pool(window=3, stride=2, ceil=true)", h, "pool2");
    h = graph.add(normalisation, h, "norm2");
    h = convolution(graph, h, 3, scale_(64), "init=gaussian(std=0.01)");  // Caffe's file gives no multipliers here
    h = graph.add("relu", h);
    h = graph.add("average_pool(window=3, stride=2, ceil=true)", h, "pool3");
    h = graph.add("flatten", h);
    h = graph.add(
        fmt::format("dense(units={}, init=gaussian(std=0.01), decay=250, bias_rate=2, bias_decay=0)", classes_), h,
        "ip1");
    graph.output("prediction", h);
  }

  Shape target(std::int64_t batch) const override { return {batch, 1}; }
  Spec loss() const override { return "softmax_cross_entropy"; }

 private:
  static graph::ValueId convolution(graph::Graph& graph, graph::ValueId h, int number, std::int64_t filters,
                                    const char* learning) {
    return graph.add(fmt::format("conv(filters={}, kernel=5, padding=2, {})", filters, learning), h,
                     fmt::format("conv{}", number));
  }

  std::int64_t size_, channels_, classes_;
  WidthScaling scale_;
};

}  // namespace

extern const Row<Network> cifar10_full;
const Row<Network> cifar10_full{
    "cifar10_full", "Caffe's full CIFAR-10 network, with normalisation within channels",
    [](Args& args) -> std::unique_ptr<Network> { return std::make_unique<Cifar10Full>(args); }};

}  // namespace isobar::zoo
