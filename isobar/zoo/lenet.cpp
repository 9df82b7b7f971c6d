// lenet: the digit classifier of Caffe's MNIST example. Two VALID convolutions 5 x 5, each with max pooling by 2 and
// without activation, a hidden dense layer with ReLU. Weights by Caffe's xavier, biases learn twice as fast.
// 431,080 parameters and 2.29 M multiply-adds at 28 x 28.
#include "isobar/zoo/network.hpp"
#include "isobar/zoo/width_scaling.hpp"

namespace isobar::zoo {
namespace {

class LeNet final : public Network {
 public:
  explicit LeNet(Args& args)
      : size_(args.integer("size", 28)),
        channels_(args.integer("channels", 1)),
        classes_(args.integer("classes", 10)),
        scale_(args) {
    args.require(size_ >= 16 && size_ % 4 == 0, "size must be a multiple of 4 and at least 16");
    args.require(channels_ >= 1 && classes_ >= 2, "channels must be at least 1, classes at least 2");
  }

  void build(graph::Graph& graph, std::int64_t batch) const override {
    constexpr const char* learning = "init=xavier_caffe, bias_rate=2";
    graph::ValueId h = graph.input("x", {batch, size_, size_, channels_});
    h = graph.add(fmt::format("conv(filters={}, kernel=5, {})", scale_(20), learning), h, "conv1");
    h = graph.add("max_pool(window=2)", h, "pool1");
    h = graph.add(fmt::format("conv(filters={}, kernel=5, {})", scale_(50), learning), h, "conv2");
    h = graph.add("max_pool(window=2)", h, "pool2");
    h = graph.add("flatten", h);
    h = graph.add(fmt::format("dense(units={}, {})", scale_(500), learning), h, "ip1");
    h = graph.add("relu", h);
    h = graph.add(fmt::format("dense(units={}, {})", classes_, learning), h, "ip2");
    graph.output("prediction", h);
  }

  Shape target(std::int64_t batch) const override { return {batch, 1}; }
  Spec loss() const override { return "softmax_cross_entropy"; }

 private:
  std::int64_t size_, channels_, classes_;
  WidthScaling scale_;
};

}  // namespace

extern const Row<Network> lenet{"lenet", "Caffe's LeNet: handwritten digits", make_member<LeNet>};

}  // namespace isobar::zoo
