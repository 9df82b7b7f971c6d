// climate_detector: finds extreme weather as boxes on a coarse grid and reconstructs its input, so that it also learns
// from unlabelled images. An encoder of 5 x 5 convolutions with stride 2, heads for box, objectness and class, a
// decoder.   variant a (ExtremeWeather): six layers, leaky ReLU 0.1, batch-normed code, decoder with the encoder's
// weights;   variant b (15 PF): five layers, ReLU, four heads, decoder with its own weights.
// prediction [N, grid, grid, x y w h object none classes...]; loss = detection + lambda * mse(reconstruction, input).
#include "isobar/zoo/network.hpp"
#include "isobar/zoo/segmentation.hpp"
#include "isobar/zoo/width_scaling.hpp"

namespace isobar::zoo {
namespace {

class ClimateDetector final : public Network {
 public:
  explicit ClimateDetector(Args& args)
      : tied_(args.one_of("variant", "a", {"a", "b"}) == "a"),
        height_(args.integer("height", 768)),
        width_(args.integer("width", tied_ ? 1152 : 768)),
        channels_(args.integer("channels", 16)),
        classes_(args.integer("classes", 4)),
        scale_(args),
        lambda_(args.real("lambda", tied_ ? 10 : 0.1)) {
    args.require(channels_ >= 1 && classes_ >= 1, "channels and classes must be at least 1");
    args.require(lambda_ >= 0, "lambda, the weight of the reconstruction, must not be negative");
    std::vector<std::int64_t> table{128, 256, 512, 768, 1024};
    if (tied_) table.push_back(1280);
    for (const std::int64_t filters : table) filters_.push_back(scale_(filters));
    require_steps(args, height_, width_, step());
  }

  void build(graph::Graph& graph, std::int64_t batch) const override {
    const graph::ValueId x = graph.input("x", {batch, height_, width_, channels_});
    graph::ValueId code = x;
    for (std::size_t i = 0; i < filters_.size(); ++i) {
      code = graph.add(fmt::format("conv(filters={}, kernel=5, stride=2, padding={}, init=he_normal)", filters_[i],
                                   tied_ ? "2" : "same"),
                       code, fmt::format("encode{}", i + 1));
      code = graph.add(tied_ ? "leaky_relu(slope=0.1)" : "relu", code);
    }
    graph.output("prediction", tied_ ? heads_a(graph, code) : heads_b(graph, code));
    if (lambda_ > 0) graph.output("reconstruction", decoder(graph, code));
  }

  Shape target(std::int64_t batch) const override { return {batch, height_ / step(), width_ / step(), 6 + classes_}; }
  Spec loss() const override { return tied_ ? "detection_loss(variant=a)" : "detection_loss(variant=b)"; }

  graph::ValueId add_loss(graph::Graph& graph, graph::ValueId target, const Spec& loss) const override {
    if (lambda_ == 0) return Network::add_loss(graph, target, loss);
    const graph::ValueId detection = add_loss_term(graph, loss, graph.find("prediction"), target, "detection");
    const graph::ValueId rebuilt =
        add_loss_term(graph, "mse", graph.find("reconstruction"), graph.find("x"), "rebuilding");
    return add_weighted_sum(graph, {{detection, 1}, {rebuilt, lambda_}});
  }

 private:
  std::int64_t step() const { return std::int64_t{1} << filters_.size(); }

  static graph::ValueId head(graph::Graph& graph, graph::ValueId code, std::int64_t maps, const std::string& name) {
    return graph.add(fmt::format("conv(filters={}, kernel=3, padding=same, init=he_normal)", maps), code, name);
  }

  // Probabilities for objectness and class, coordinates rectified.
  graph::ValueId heads_a(graph::Graph& graph, graph::ValueId code) const {
    code = graph.add("batch_norm(momentum=0.1, eps=1e-4)", code, "code_norm");
    const graph::ValueId box = graph.add("relu", head(graph, code, 4, "box"));
    const graph::ValueId object = graph.add("softmax", head(graph, code, 2, "object"));
    const graph::ValueId kind = graph.add("softmax", head(graph, code, classes_, "class"));
    return graph.add("concat", {box, object, kind}, "heads");
  }

  // Logits for objectness and class, rectified as published; coordinates unchanged.
  graph::ValueId heads_b(graph::Graph& graph, graph::ValueId code) const {
    const graph::ValueId place = head(graph, code, 2, "place"), size = head(graph, code, 2, "size");
    const graph::ValueId object = graph.add("relu", head(graph, code, 2, "object"));
    const graph::ValueId kind = graph.add("relu", head(graph, code, classes_, "class"));
    return graph.add("concat", {place, size, object, kind}, "heads");
  }

  graph::ValueId decoder(graph::Graph& graph, graph::ValueId h) const {
    for (std::size_t i = filters_.size(); i-- > 0;) {
      const std::int64_t maps = i == 0 ? channels_ : filters_[i - 1];
      const std::string name = fmt::format("decode{}", i + 1);
      if (tied_)
        h = graph.add(
            fmt::format("deconv(filters={}, kernel=5, stride=2, padding=2, output_padding=1, bias=false)", maps),
            {h, graph.find(fmt::format("encode{}.w", i + 1))}, name);
      else
        h = graph.add(fmt::format("deconv(filters={}, kernel=5, stride=2, padding=same, init=he_normal)", maps), h,
                      name);
    }
    return h;
  }

  bool tied_;
  std::int64_t height_, width_, channels_, classes_;
  WidthScaling scale_;
  double lambda_;
  std::vector<std::int64_t> filters_;
};

}  // namespace

extern const Row<Network> climate_detector{
    "climate_detector", "semi-supervised detector of extreme weather, variants a (tied) and b (15 PF)",
    make_member<ClimateDetector>};

}  // namespace isobar::zoo
