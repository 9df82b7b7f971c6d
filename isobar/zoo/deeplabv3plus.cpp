// deeplabv3plus: DeepLabv3+ as trained at an exaflop: a pre-activation ResNet-50 with output stride 8, pyramid pooling
// with rates 12, 24, 36, and a decoder of transposed convolutions up to full resolution with a skip from the input.
// Without batch normalisation, every normalisation halves its input instead, and residual units lack the ReLU that
// follows the normalisation at their entry, as in those runs. 43,669,251 parameters (43,718,883 with batch
// normalisation) and 4.341 TF forward at 768 x 1152 x 16, counting atrous convolutions as dense ones of their kernel.
#include "isobar/zoo/network.hpp"
#include "isobar/zoo/segmentation.hpp"
#include "isobar/zoo/width_scaling.hpp"

namespace isobar::zoo {
namespace {

constexpr const char* slim = "init=variance_scaling, bias=false";        // normalised, so without bias
constexpr const char* slim_biased = "init=variance_scaling, bias=true";  // encoder layers without normalisation
constexpr const char* plain = "init=glorot_uniform, bias=true";          // decoder layers without normalisation

class DeepLabV3Plus final : public Network {
 public:
  explicit DeepLabV3Plus(Args& args)
      : height_(args.integer("height", 768)),
        width_(args.integer("width", 1152)),
        channels_(args.integer("channels", 16)),
        classes_(args.integer("classes", 3)),
        scale_(args),
        units_(args.integers("units", {3, 4, 6, 3})),
        batch_norm_(args.flag("batch_norm", false)) {
    args.require(channels_ >= 1 && classes_ >= 2, "channels must be at least 1, classes at least 2");
    args.require(units_.size() == 4, "units must be 4 numbers: residual units in each block");
    for (const std::int64_t n : units_) args.require(n >= 1, "every block must have at least 1 unit");
    require_steps(args, height_, width_, 8);
  }

  void build(graph::Graph& graph, std::int64_t batch) const override {
    const graph::ValueId x = graph.input("x", {batch, height_, width_, channels_});
    graph::ValueId low;
    const graph::ValueId code = pyramid(graph, encoder(graph, x, low));
    graph.output("prediction", decoder(graph, x, low, code));
  }

  Shape target(std::int64_t batch) const override { return {batch, height_, width_}; }
  Spec loss() const override { return exascale_loss(classes_); }

 private:
  static graph::ValueId conv(graph::Graph& graph, graph::ValueId h, std::int64_t filters, const std::string& geometry,
                             const char* kind, const std::string& name) {
    return graph.add(fmt::format("conv(filters={}, {}, {})", filters, geometry, kind), h, name);
  }

  graph::ValueId normalised(graph::Graph& graph, graph::ValueId h, const std::string& name) const {
    return graph.add(batch_norm_ ? "batch_norm(momentum=0.0003, eps=1e-5)" : "scale(by=0.5)", h, name + "_norm");
  }

  // A convolution without bias, normalised and rectified.
  graph::ValueId block(graph::Graph& graph, graph::ValueId h, std::int64_t filters, const std::string& geometry,
                       const std::string& name) const {
    return graph.add("relu", normalised(graph, conv(graph, h, filters, geometry, slim, name), name), name + "_relu");
  }

  // Returns the last features, and in `low` the first reduced ones of the last unit of block 1.
  graph::ValueId encoder(graph::Graph& graph, graph::ValueId x, graph::ValueId& low) const {
    graph::ValueId h = conv(graph, x, scale_(64), "kernel=7, stride=2, padding=3", slim_biased, "root");
    h = graph.add("max_pool(window=3, stride=2, padding=same)", h, "root_pool");
    const int rates[] = {1, 1, 2, 4};
    for (std::size_t b = 0; b < 4; ++b)
      for (std::int64_t u = 1; u <= units_[b]; ++u) {
        const bool last = b == 0 && u == units_[0];  // the one unit that halves
        h = unit(graph, h, scale_(64 << b), u == 1, last ? 2 : 1, rates[b], fmt::format("block{}_{}", b + 1, u),
                 last ? &low : nullptr);
      }
    // The authors' library adds this after the encoder although nothing reads it; its weights are part of the count.
    if (batch_norm_) graph.add("batch_norm(momentum=0.0003, eps=1e-5)", h, "postnorm");
    return h;
  }

  graph::ValueId unit(graph::Graph& graph, graph::ValueId x, std::int64_t base, bool first, int stride, int rate,
                      const std::string& name, graph::ValueId* low) const {
    graph::ValueId entry = normalised(graph, x, name + "_entry");
    if (batch_norm_) entry = graph.add("relu", entry, name + "_entry_relu");
    graph::ValueId shortcut = x;
    if (first)
      shortcut = conv(graph, entry, 4 * base, fmt::format("kernel=1, stride={}", stride), slim_biased, name + "_skip");
    else if (stride > 1) shortcut = graph.add(fmt::format("max_pool(window=1, stride={})", stride), x, name + "_skip");
    graph::ValueId h = block(graph, entry, base, "kernel=1", name + "_a");
    if (low) *low = h;
    h = block(graph, h, base, fmt::format("kernel=3, stride={}, dilation={}, padding={}", stride, rate, rate),
              name + "_b");
    h = conv(graph, h, 4 * base, "kernel=1", slim_biased, name + "_c");
    return graph.add("add", {shortcut, h}, name);
  }

  graph::ValueId pyramid(graph::Graph& graph, graph::ValueId x) const {
    const Shape& shape = graph.value(x).shape;
    const std::int64_t height = shape[1], width = shape[2], filters = scale_(256);
    std::vector<graph::ValueId> branches{block(graph, x, filters, "kernel=1", "pyramid0")};
    for (const int rate : {12, 24, 36})
      branches.push_back(block(graph, x, filters, fmt::format("kernel=3, dilation={}, padding={}", rate, rate),
                               fmt::format("pyramid{}", rate)));
    graph::ValueId image = graph.add("global_pool", x, "image");
    image = graph.add(fmt::format("reshape(shape=[1, 1, {}])", graph.value(image).shape[1]), image);
    image = block(graph, image, filters, "kernel=1", "image_conv");
    branches.push_back(
        graph.add(fmt::format("resize(size=[{}, {}], kind=nearest)", height, width), image, "image_spread"));
    return block(graph, graph.add("concat", branches, "pyramid"), filters, "kernel=1", "pyramid_join");
  }

  graph::ValueId decoder(graph::Graph& graph, graph::ValueId x, graph::ValueId low, graph::ValueId code) const {
    const std::int64_t filters = scale_(256);
    const std::string same = "kernel=3, padding=same";
    low = block(graph, low, scale_(48), "kernel=1", "low");
    graph::ValueId h = graph.add("concat", {enlarged(graph, code, 1), low}, "join_low");
    h = block(graph, h, filters, same, "decoder1");
    h = block(graph, h, filters, same, "decoder2");
    h = enlarged(graph, enlarged(graph, h, 2), 3);
    graph::ValueId skip = conv(graph, x, scale_(64), same, plain, "input1");
    skip = conv(graph, skip, scale_(128), same, plain, "input2");
    h = graph.add("concat", {h, skip}, "join_input");
    h = conv(graph, h, filters, same, plain, "decoder3");
    h = conv(graph, h, filters, same, plain, "decoder4");
    return conv(graph, h, classes_, "kernel=1", plain, "classes");
  }

  graph::ValueId enlarged(graph::Graph& graph, graph::ValueId h, int number) const {
    return graph.add(fmt::format("deconv(filters={}, kernel=3, stride=2, padding=same, {})", scale_(256), plain), h,
                     fmt::format("enlarge{}", number));
  }

  std::int64_t height_, width_, channels_, classes_;
  WidthScaling scale_;
  std::vector<std::int64_t> units_;
  bool batch_norm_;
};

}  // namespace

extern const Row<Network> deeplabv3plus{"deeplabv3plus",
                                        "DeepLabv3+ of the exascale climate runs: cyclones and rivers, pixel by pixel",
                                        make_member<DeepLabV3Plus>};

}  // namespace isobar::zoo
