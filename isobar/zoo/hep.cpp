// hep: the classifier of collision events of "Deep Learning at 15 PF". Convolutions 3 x 3 SAME with ReLU, max pooling
// by 2 and dropout, the last one averaged over the image, one dense layer; He-normal weights.
// 594,178 parameters and 5.26 GF forward at 224 x 224 x 3. Judged by accuracy and by the area under the ROC curve.
#include "isobar/zoo/network.hpp"

namespace isobar::zoo {
namespace {

class Hep final : public Network {
 public:
  explicit Hep(Args& args)
      : size_(args.integer("size", 224)),
        channels_(args.integer("channels", 3)),
        filters_(args.integer("filters", 128)),
        layers_(args.integer("layers", 5)),
        classes_(args.integer("classes", 2)),
        dropout_(args.real("dropout", 0.5)) {
    args.require(channels_ >= 1 && filters_ >= 1 && classes_ >= 2,
                 "channels and filters must be at least 1, classes at least 2");
    args.require(layers_ >= 2 && layers_ <= 12, "layers must be 2 to 12");
    const std::int64_t step = std::int64_t{1} << (layers_ - 1);
    args.require(
        size_ >= step && size_ % step == 0,
        fmt::format("size must be a multiple of {}: all but the last of the {} layers halve it", step, layers_));
  }

  void build(graph::Graph& graph, std::int64_t batch) const override {
    graph::ValueId h = graph.input("x", {batch, size_, size_, channels_});
    for (std::int64_t i = 1; i <= layers_; ++i) {
      h = graph.add(fmt::format("conv(filters={}, kernel=3, padding=same, init=he_normal)", filters_), h,
                    fmt::format("conv{}", i));
      h = graph.add("relu", h);
      if (i == layers_) break;
      h = graph.add("max_pool(window=2)", h, fmt::format("pool{}", i));
      if (dropout_ > 0) h = graph.add(fmt::format("dropout(rate={})", dropout_), h, fmt::format("dropout{}", i));
    }
    h = graph.add("global_pool", h, fmt::format("pool{}", layers_));
    h = graph.add(fmt::format("dense(units={}, init=he_normal)", classes_), h, "fc");
    graph.output("prediction", h);
  }

  Shape target(std::int64_t batch) const override { return {batch, 1}; }
  Spec loss() const override { return "softmax_cross_entropy"; }

 private:
  std::int64_t size_, channels_, filters_, layers_, classes_;
  double dropout_;
};

}  // namespace

extern const Row<Network> hep{"hep", "high-energy physics: signal or background from calorimeter images",
                              make_member<Hep>};

}  // namespace isobar::zoo
