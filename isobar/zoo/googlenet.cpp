// googlenet: Caffe's bvlc_googlenet. Nine inception modules of four parallel branches each, between ceil poolings; two
// auxiliary classifiers along the way help training and are absent from the deployed network (auxiliary=false).
// 13,378,280 parameters with them, 6,998,552 deployed; 1.591 and 1.583 G multiply-adds at 224 x 224 x 3.
#include "isobar/zoo/network.hpp"
#include "isobar/zoo/width_scaling.hpp"

namespace isobar::zoo {
namespace {

struct Inception {
  const char* name;
  int single, reduce3, full3, reduce5, full5, pooled;
};
constexpr Inception modules[] = {
    {"3a", 64, 96, 128, 16, 32, 32},     {"3b", 128, 128, 192, 32, 96, 64},   {"4a", 192, 96, 208, 16, 48, 64},
    {"4b", 160, 112, 224, 24, 64, 64},   {"4c", 128, 128, 256, 24, 64, 64},   {"4d", 112, 144, 288, 32, 64, 64},
    {"4e", 256, 160, 320, 32, 128, 128}, {"5a", 256, 160, 320, 32, 128, 128}, {"5b", 384, 192, 384, 48, 128, 128}};

constexpr const char* halving = "max_pool(window=3, stride=2, ceil=true)";
constexpr const char* response = "lrn(size=5, alpha=1e-4, beta=0.75)";

class GoogLeNet final : public Network {
 public:
  explicit GoogLeNet(Args& args)
      : size_(args.integer("size", 224)),
        channels_(args.integer("channels", 3)),
        classes_(args.integer("classes", 1000)),
        scale_(args),
        dropout_(args.real("dropout", 0.4)),
        auxiliary_(args.flag("auxiliary", true)),
        auxiliary_dropout_(args.real("auxiliary_dropout", 0.7)) {
    args.require(channels_ >= 1 && classes_ >= 2, "channels must be at least 1, classes at least 2");
    args.require(size_ >= 47, "size must be at least 47: five layers halve it");
    args.require(!auxiliary_ || size_ >= 79,
                 "size must be at least 79 with auxiliary classifiers, which average 5 x 5 of a sixteenth of it");
  }

  void build(graph::Graph& graph, std::int64_t batch) const override {
    graph::ValueId h = graph.input("x", {batch, size_, size_, channels_});
    h = conv(graph, h, 64, "kernel=7, stride=2, padding=3", "conv1");
    h = graph.add(halving, h, "pool1");
    h = graph.add(response, h, "norm1");
    h = conv(graph, h, 64, "kernel=1", "conv2_reduce");
    h = conv(graph, h, 192, "kernel=3, padding=1", "conv2");
    h = graph.add(response, h, "norm2");
    h = graph.add(halving, h, "pool2");
    for (const Inception& module : modules) {
      const std::string name = module.name;
      if (name == "4a" || name == "5a") h = graph.add(halving, h, name == "4a" ? "pool3" : "pool4");
      h = inception(graph, h, module);
      if (auxiliary_ && (name == "4a" || name == "4d")) classifier(graph, h, name == "4a" ? 1 : 2);
    }
    h = graph.add("global_pool", h, "pool5");  // 7 x 7 at the published size
    if (dropout_ > 0) h = graph.add(fmt::format("dropout(rate={})", dropout_), h, "drop");
    graph.output("prediction", dense(graph, h, classes_, 0, "classes"));
  }

  Shape target(std::int64_t batch) const override { return {batch, 1}; }
  Spec loss() const override { return "softmax_cross_entropy"; }

  graph::ValueId add_loss(graph::Graph& graph, graph::ValueId target, const Spec& loss) const override {
    if (!auxiliary_) return Network::add_loss(graph, target, loss);
    const auto term = [&](const char* prediction, const char* name) {
      return add_loss_term(graph, loss, graph.find(prediction), target, name);
    };
    return add_weighted_sum(
        graph,
        {{term("prediction", "loss3"), 1}, {term("auxiliary1", "loss1"), 0.3}, {term("auxiliary2", "loss2"), 0.3}});
  }

 private:
  graph::ValueId conv(graph::Graph& graph, graph::ValueId h, std::int64_t filters, const char* geometry,
                      const std::string& name) const {
    h = graph.add(fmt::format("conv(filters={}, {}, init=xavier_caffe, bias_init=constant(value=0.2), bias_rate=2, "
                              "bias_decay=0)",
                              scale_(filters), geometry),
                  h, name);
    return graph.add("relu", h, name + "_relu");
  }

  static graph::ValueId dense(graph::Graph& graph, graph::ValueId h, std::int64_t units, double bias,
                              const std::string& name) {
    return graph.add(fmt::format("dense(units={}, init=xavier_caffe, bias_init=constant(value={}), bias_rate=2, "
                                 "bias_decay=0)",
                                 units, bias),
                     h, name);
  }

  graph::ValueId inception(graph::Graph& graph, graph::ValueId x, const Inception& m) const {
    const std::string name = fmt::format("inception{}", m.name);
    const graph::ValueId single = conv(graph, x, m.single, "kernel=1", name + "_1x1");
    graph::ValueId three = conv(graph, x, m.reduce3, "kernel=1", name + "_3x3_reduce");
    three = conv(graph, three, m.full3, "kernel=3, padding=1", name + "_3x3");
    graph::ValueId five = conv(graph, x, m.reduce5, "kernel=1", name + "_5x5_reduce");
    five = conv(graph, five, m.full5, "kernel=5, padding=2", name + "_5x5");
    graph::ValueId pooled = graph.add("max_pool(window=3, stride=1, padding=1)", x, name + "_pool");
    pooled = conv(graph, pooled, m.pooled, "kernel=1", name + "_pool_proj");
    return graph.add("concat", {single, three, five, pooled}, name);
  }

  void classifier(graph::Graph& graph, graph::ValueId h, int number) const {
    const std::string name = fmt::format("auxiliary{}", number);
    h = graph.add("average_pool(window=5, stride=3, ceil=true)", h, name + "_pool");
    h = conv(graph, h, 128, "kernel=1", name + "_conv");
    h = graph.add("flatten", h, name + "_flat");
    h = graph.add("relu", dense(graph, h, scale_(1024), 0.2, name + "_fc"), name + "_relu");
    if (auxiliary_dropout_ > 0) h = graph.add(fmt::format("dropout(rate={})", auxiliary_dropout_), h, name + "_drop");
    graph.output(name, dense(graph, h, classes_, 0, name + "_classes"));
  }

  std::int64_t size_, channels_, classes_;
  WidthScaling scale_;
  double dropout_;
  bool auxiliary_;
  double auxiliary_dropout_;
};

}  // namespace

extern const Row<Network> googlenet{"googlenet", "Caffe's GoogLeNet: ImageNet photographs by inception modules",
                                    make_member<GoogLeNet>};

}  // namespace isobar::zoo
