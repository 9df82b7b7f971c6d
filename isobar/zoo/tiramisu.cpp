// tiramisu: the modified Tiramisu that segments climate images. Dense blocks of 5 x 5 convolutions with ReLU and
// dropout, each appended to its input; down by 1 x 1 convolutions of stride 2; up by transposed convolutions of the
// maps the last block added, concatenated with the block of the same size on the way down. No batch normalisation.
// 7,504,835 parameters and 1.396 TF forward at 768 x 1152 x 16 with blocks 2 2 2 4 5.
#include "isobar/zoo/network.hpp"
#include "isobar/zoo/segmentation.hpp"

namespace isobar::zoo {
namespace {

class Tiramisu final : public Network {
 public:
  explicit Tiramisu(Args& args)
      : height_(args.integer("height", 768)),
        width_(args.integer("width", 1152)),
        channels_(args.integer("channels", 16)),
        classes_(args.integer("classes", 3)),
        filters_(args.integer("filters", 64)),
        growth_(args.integer("growth", 32)),
        kernel_(args.integer("kernel", 5)),
        blocks_(args.integers("blocks", {2, 2, 2, 4, 5})),
        dropout_(args.real("dropout", 0.2)) {
    args.require(channels_ >= 1 && filters_ >= 1 && growth_ >= 1 && kernel_ >= 1 && classes_ >= 2,
                 "channels, filters, growth and kernel must be at least 1, classes at least 2");
    args.require(blocks_.size() >= 2 && blocks_.size() <= 10, "blocks must be 2 to 10 numbers");
    for (const std::int64_t layers : blocks_) args.require(layers >= 1, "every block must have at least 1 layer");
    require_steps(args, height_, width_, std::int64_t{1} << (blocks_.size() - 1));
  }

  void build(graph::Graph& graph, std::int64_t batch) const override {
    graph::ValueId h = graph.input("x", {batch, height_, width_, channels_});
    h = convolution(graph, h, filters_, kernel_, 1, "stem");
    std::vector<graph::ValueId> skips;
    Block block{h, h};
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      block = dense_block(graph, h, blocks_[i], fmt::format("down{}", i));
      if (i + 1 == blocks_.size()) break;
      skips.push_back(block.all);
      h = convolution(graph, block.all, graph.value(block.all).shape[-1], 1, 2, fmt::format("reduce{}", i));
    }
    for (std::size_t i = skips.size(); i-- > 0;) {
      h = graph.add(fmt::format("deconv(filters={}, kernel=3, stride=2, padding=same, init=he_uniform)",
                                graph.value(block.added).shape[-1]),
                    block.added, fmt::format("enlarge{}", i));
      h = graph.add("concat", {h, skips[i]}, fmt::format("join{}", i));
      block = dense_block(graph, h, blocks_[i], fmt::format("up{}", i));
    }
    h = graph.add(fmt::format("conv(filters={}, kernel=1, init=he_uniform)", classes_), block.all, "classes");
    graph.output("prediction", dropout(graph, h, "classes"));
  }

  Shape target(std::int64_t batch) const override { return {batch, height_, width_}; }
  Spec loss() const override { return exascale_loss(classes_); }

 private:
  struct Block {
    graph::ValueId added;  // the maps of its layers
    graph::ValueId all;    // its input and those maps
  };

  Block dense_block(graph::Graph& graph, graph::ValueId x, std::int64_t layers, const std::string& name) const {
    std::vector<graph::ValueId> added;
    graph::ValueId all = x;
    for (std::int64_t i = 0; i < layers; ++i) {
      added.push_back(convolution(graph, all, growth_, kernel_, 1, fmt::format("{}_{}", name, i)));
      all = graph.add("concat", {all, added.back()}, fmt::format("{}_{}_all", name, i));
    }
    return {added.size() == 1 ? added[0] : graph.add("concat", added, name + "_added"), all};
  }

  graph::ValueId convolution(graph::Graph& graph, graph::ValueId x, std::int64_t filters, std::int64_t kernel,
                             std::int64_t stride, const std::string& name) const {
    const graph::ValueId h = graph.add(
        fmt::format("conv(filters={}, kernel={}, stride={}, padding=same, init=he_uniform)", filters, kernel, stride),
        x, name);
    return dropout(graph, graph.add("relu", h), name);
  }

  graph::ValueId dropout(graph::Graph& graph, graph::ValueId x, const std::string& name) const {
    return dropout_ > 0 ? graph.add(fmt::format("dropout(rate={})", dropout_), x, name + "_dropout") : x;
  }

  std::int64_t height_, width_, channels_, classes_, filters_, growth_, kernel_;
  std::vector<std::int64_t> blocks_;
  double dropout_;
};

}  // namespace

extern const Row<Network> tiramisu{"tiramisu", "modified Tiramisu: cyclones and atmospheric rivers, pixel by pixel",
                                   make_member<Tiramisu>};

}  // namespace isobar::zoo
