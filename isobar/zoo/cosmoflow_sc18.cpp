// cosmoflow_sc18: the network trained on 8,192 nodes (SC18), in the geometry whose flattened features match its first
// dense layer. Seven VALID convolutions with leaky ReLU 0.01, the first three followed by average pooling, three dense
// layers with dropout before each. 7,041,443 parameters at 128^3 x 1. Volumes too small for VALID convolutions can be
// trained with padding=same.
#include "isobar/zoo/network.hpp"
#include "isobar/zoo/width_scaling.hpp"

namespace isobar::zoo {
namespace {

struct Sc18Layer {
  int kernel, filters, stride;
  bool pool;
};
constexpr Sc18Layer sc18_layers[] = {{3, 16, 1, true},   {4, 32, 1, true},   {4, 64, 1, true},  {3, 128, 2, false},
                                     {3, 256, 1, false}, {2, 256, 1, false}, {2, 256, 1, false}};

class CosmoFlowSc18 final : public Network {
 public:
  explicit CosmoFlowSc18(Args& args)
      : size_(args.integer("size", 128)),
        channels_(args.integer("channels", 1)),
        outputs_(args.integer("outputs", 3)),
        dropout_(args.real("dropout", 0.5)),
        padding_(args.one_of("padding", "valid", {"valid", "same"})),
        scale_(args) {
    args.require(channels_ >= 1 && outputs_ >= 1, "channels and outputs must be at least 1");
    args.require(size_ >= (padding_ == "same" ? 16 : 112),
                 "size must be at least 112 with padding=valid, 16 with padding=same");
  }

  void build(graph::Graph& graph, std::int64_t batch) const override {
    graph::ValueId h = graph.input("x", {batch, size_, size_, size_, channels_});
    int number = 0;
    for (const Sc18Layer& layer : sc18_layers) {
      ++number;
      h = graph.add(fmt::format("conv(filters={}, kernel={}, stride={}, padding={}, bias_init=constant(value=0.1))",
                                scale_(layer.filters), layer.kernel, layer.stride, padding_),
                    h, fmt::format("conv{}", number));
      h = graph.add("leaky_relu(slope=0.01)", h);
      if (layer.pool) h = graph.add("average_pool(window=2)", h, fmt::format("pool{}", number));
    }
    h = graph.add("flatten", h);
    const std::int64_t units[] = {scale_(2048), scale_(256), outputs_};
    for (int i = 0; i < 3; ++i) {
      if (dropout_ > 0) h = graph.add(fmt::format("dropout(rate={})", dropout_), h, fmt::format("dropout{}", i + 1));
      h = graph.add(fmt::format("dense(units={}, bias_init=constant(value=0.1))", units[i]), h,
                    fmt::format("fc{}", i + 1));
      if (i < 2) h = graph.add("leaky_relu(slope=0.01)", h);
    }
    graph.output("prediction", h);
  }

  Shape target(std::int64_t batch) const override { return {batch, outputs_}; }
  Spec loss() const override { return "mae"; }
  std::vector<std::string> target_names() const override {
    if (outputs_ == 3) return {"omega_m", "sigma_8", "n_s"};
    if (outputs_ == 4) return {"omega_m", "sigma_8", "n_s", "h_0"};
    return {};
  }

 private:
  std::int64_t size_, channels_, outputs_;
  double dropout_;
  std::string padding_;
  WidthScaling scale_;
};

}  // namespace

extern const Row<Network> cosmoflow_sc18{
    "cosmoflow_sc18", "CosmoFlow as trained on 8,192 nodes in 2018: three parameters from one density channel",
    make_member<CosmoFlowSc18>};

}  // namespace isobar::zoo
