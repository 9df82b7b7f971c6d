// resnet101: the pre-activation ResNet-101 of Tencent ML-Images, for images with several labels each. A 7 x 7 stem
// of stride 2 without pooling, four stages of bottleneck units that each begin with stride 2, and one sigmoid per
// class. Convolutions have no bias; a projected shortcut has its own normalisation and ReLU. 65,375,326 parameters,
// 42,496,192 of them before the layer of 11,166 classes. The source's adaptive class coefficients are not in the loss
// here.
#include "isobar/zoo/network.hpp"
#include "isobar/zoo/width_scaling.hpp"

namespace isobar::zoo {
namespace {

class ResNet101 final : public Network {
 public:
  explicit ResNet101(Args& args)
      : size_(args.integer("size", 224)),
        channels_(args.integer("channels", 3)),
        classes_(args.integer("classes", 11166)),
        scale_(args),
        units_(args.integers("units", {3, 4, 23, 3})) {
    args.require(channels_ >= 1 && classes_ >= 1, "channels and classes must be at least 1");
    args.require(units_.size() == 4, "units must be 4 numbers: bottleneck units in each stage");
    for (const std::int64_t n : units_) args.require(n >= 1, "every stage must have at least 1 unit");
    args.require(size_ >= 32, "size must be at least 32: five layers halve it");
  }

  void build(graph::Graph& graph, std::int64_t batch) const override {
    graph::ValueId h = graph.input("x", {batch, size_, size_, channels_});
    h = conv(graph, h, scale_(64), "kernel=7, stride=2, padding=3", "stem");
    for (std::size_t stage = 0; stage < 4; ++stage)
      for (std::int64_t u = 1; u <= units_[stage]; ++u)
        h = unit(graph, h, scale_(64 << stage), u == 1, fmt::format("stage{}_{}", stage + 1, u));
    h = graph.add("global_pool", activated(graph, h, "last"), "pool");
    h = graph.add(fmt::format("dense(units={})", classes_), h, "classes");
    graph.output("prediction", h);
  }

  Shape target(std::int64_t batch) const override { return {batch, classes_}; }
  Spec loss() const override { return "sigmoid_cross_entropy(positive_weight=12)"; }

 private:
  static graph::ValueId conv(graph::Graph& graph, graph::ValueId h, std::int64_t filters, const char* geometry,
                             const std::string& name) {
    return graph.add(
        fmt::format("conv(filters={}, {}, init=variance_scaling(factor=1), bias=false)", filters, geometry), h, name);
  }

  static graph::ValueId activated(graph::Graph& graph, graph::ValueId h, const std::string& name) {
    return graph.add("relu", graph.add("batch_norm(momentum=0.003, eps=1e-5)", h, name + "_norm"), name + "_relu");
  }

  static graph::ValueId unit(graph::Graph& graph, graph::ValueId x, std::int64_t base, bool first,
                             const std::string& name) {
    const graph::ValueId entry = activated(graph, x, name + "_entry");
    graph::ValueId skip = x;
    if (first) skip = conv(graph, activated(graph, x, name + "_skip"), 4 * base, "kernel=1, stride=2", name + "_skip");
    graph::ValueId h = activated(graph, conv(graph, entry, base, "kernel=1", name + "_a"), name + "_a");
    h = conv(graph, h, base, first ? "kernel=3, stride=2, padding=1" : "kernel=3, padding=1", name + "_b");
    h = conv(graph, activated(graph, h, name + "_b"), 4 * base, "kernel=1", name + "_c");
    return graph.add("add", {skip, h}, name);
  }

  std::int64_t size_, channels_, classes_;
  WidthScaling scale_;
  std::vector<std::int64_t> units_;
};

}  // namespace

extern const Row<Network> resnet101{"resnet101", "pre-activation ResNet-101 for images with several labels (ML-Images)",
                                    make_member<ResNet101>};

}  // namespace isobar::zoo
