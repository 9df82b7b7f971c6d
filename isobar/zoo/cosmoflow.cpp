// cosmoflow: the network of the MLPerf-HPC CosmoFlow benchmark. Five convolutions 3^3 SAME with leaky ReLU 0.3 and
// max pooling by 2, channels doubling from 32; two hidden dense layers with dropout; 1.2 tanh at the end, so that
// targets in [-1, 1] avoid saturation. 8,907,556 parameters and 68.86 GF forward at 128^3 x 4.
#include "isobar/zoo/network.hpp"

namespace isobar::zoo {
namespace {

class CosmoFlow final : public Network {
 public:
  explicit CosmoFlow(Args& args)
      : size_(args.integer("size", 128)),
        channels_(args.integer("channels", 4)),
        width_(args.integer("width", 32)),
        layers_(args.integer("layers", 5)),
        outputs_(args.integer("outputs", 4)),
        dropout_(args.real("dropout", 0.5)) {
    args.require(channels_ >= 1 && width_ >= 1 && outputs_ >= 1, "channels, width and outputs must be at least 1");
    args.require(layers_ >= 1 && layers_ <= 10, "layers must be 1 to 10");
    const std::int64_t step = std::int64_t{1} << layers_;
    args.require(size_ >= step && size_ % step == 0,
                 fmt::format("size must be a multiple of {}: each of the {} layers halves it", step, layers_));
  }

  void build(graph::Graph& graph, std::int64_t batch) const override {
    graph::ValueId h = graph.input("x", {batch, size_, size_, size_, channels_});
    for (std::int64_t i = 0; i < layers_; ++i) {
      h = graph.add(fmt::format("conv(filters={}, kernel=3, padding=same)", width_ << i), h,
                    fmt::format("conv{}", i + 1));
      h = graph.add("leaky_relu(slope=0.3)", h);
      h = graph.add("max_pool(window=2)", h, fmt::format("pool{}", i + 1));
    }
    h = graph.add("flatten", h);
    const std::int64_t hidden[] = {128, 64};
    for (int i = 0; i < 2; ++i) {
      h = graph.add(fmt::format("dense(units={})", hidden[i]), h, fmt::format("fc{}", i + 1));
      h = graph.add("leaky_relu(slope=0.3)", h);
      if (dropout_ > 0) h = graph.add(fmt::format("dropout(rate={})", dropout_), h, fmt::format("dropout{}", i + 1));
    }
    h = graph.add(fmt::format("dense(units={})", outputs_), h, "fc3");
    h = graph.add("tanh", h);
    h = graph.add("scale(by=1.2)", h);
    graph.output("prediction", h);
  }

  Shape target(std::int64_t batch) const override { return {batch, outputs_}; }
  Spec loss() const override { return "mse"; }
  std::vector<std::string> target_names() const override {
    if (outputs_ != 4) return {};
    return {"omega_m", "sigma_8", "n_s", "h_0"};
  }

 private:
  std::int64_t size_, channels_, width_, layers_, outputs_;
  double dropout_;
};

}  // namespace

extern const Row<Network> cosmoflow{
    "cosmoflow", "MLPerf-HPC CosmoFlow: cosmological parameters from dark-matter volumes", make_member<CosmoFlow>};

}  // namespace isobar::zoo
