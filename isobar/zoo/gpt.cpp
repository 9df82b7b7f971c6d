// gpt: a decoder-only language model like GPT-2: learned positions, blocks of causal attention and a hidden layer of
// four times the width with tanh-GELU, each after a layer normalisation and added to its input; the embedding table is
// also the output layer. x [N, context] holds token numbers, the target the numbers of the next tokens. Weights start
// normal with deviation 0.02, those before an addition with 0.02 / sqrt(2 layers). Dropout, if requested, acts on the
// embedding and before every addition, not on attention's probabilities.
#include <cmath>

#include "isobar/zoo/network.hpp"

namespace isobar::zoo {
namespace {

// Defaults of the arguments.
struct GptSize {
  std::int64_t layers, heads, width, context, vocabulary;
};

class Gpt final : public Network {
 public:
  Gpt(Args& args, const GptSize& size)
      : layers_(args.integer("layers", size.layers)),
        heads_(args.integer("heads", size.heads)),
        width_(args.integer("width", size.width)),
        context_(args.integer("context", size.context)),
        vocabulary_(args.integer("vocabulary", size.vocabulary)),
        dropout_(args.real("dropout", 0)) {
    args.require(layers_ >= 1 && context_ >= 1 && vocabulary_ >= 2,
                 "layers and context must be at least 1, vocabulary at least 2");
    args.require(heads_ >= 1 && width_ >= 1 && width_ % heads_ == 0,
                 fmt::format("heads must divide width, and {} does not divide {}", heads_, width_));
  }

  void build(graph::Graph& graph, std::int64_t batch) const override {
    const graph::ValueId x = graph.input("x", {batch, context_});
    graph::ValueId h =
        graph.add(fmt::format("embedding(rows={}, width={}, init={})", vocabulary_, width_, normal), x, "wte");
    h = graph.add("add", {h, graph.parameter("wpe.w", {"w", {context_, width_}, normal})}, "embedded");
    h = dropout(graph, h, "embedded");
    for (std::int64_t i = 0; i < layers_; ++i) h = block(graph, h, fmt::format("block{}", i));
    h = graph.add("layer_norm", h, "last_norm");
    h = graph.add(fmt::format("dense(units={}, bias=false)", vocabulary_), {h, graph.find("wte.w")}, "head");
    graph.output("prediction", h);
  }

  Shape target(std::int64_t batch) const override { return {batch, context_}; }
  Spec loss() const override { return "softmax_cross_entropy"; }

 private:
  static constexpr const char* normal = "gaussian(std=0.02)";

  graph::ValueId block(graph::Graph& graph, graph::ValueId x, const std::string& name) const {
    graph::ValueId h = graph.add("layer_norm", x, name + "_norm1");
    h = dense(graph, h, 3 * width_, 0.02, name + "_qkv");
    graph.add("split(axis=-1, parts=3)", h, name + "_split");
    const std::vector<graph::ValueId> qkv = graph.nodes().back().out;
    h = graph.add(fmt::format("attention(heads={}, causal=true)", heads_), qkv, name + "_attention");
    h = residual(graph, x, h, name + "_projection");
    const graph::ValueId middle = h;
    h = graph.add("layer_norm", h, name + "_norm2");
    h = graph.add("gelu(kind=tanh)", dense(graph, h, 4 * width_, 0.02, name + "_hidden"), name + "_gelu");
    return residual(graph, middle, h, name + "_output");
  }

  // x plus a dense layer of h.
  graph::ValueId residual(graph::Graph& graph, graph::ValueId x, graph::ValueId h, const std::string& name) const {
    h = dense(graph, h, width_, 0.02 / std::sqrt(2.0 * layers_), name);
    return graph.add("add", {x, dropout(graph, h, name)}, name + "_sum");
  }

  static graph::ValueId dense(graph::Graph& graph, graph::ValueId h, std::int64_t units, double deviation,
                              const std::string& name) {
    return graph.add(fmt::format("dense(units={}, init=gaussian(std={}))", units, deviation), h, name);
  }

  graph::ValueId dropout(graph::Graph& graph, graph::ValueId h, const std::string& name) const {
    return dropout_ > 0 ? graph.add(fmt::format("dropout(rate={})", dropout_), h, name + "_dropout") : h;
  }

  std::int64_t layers_, heads_, width_, context_, vocabulary_;
  double dropout_;
};

}  // namespace

extern const Row<Network> gpt{"gpt", "a small GPT-2-style language model, over bytes by default",
                              [](Args& args) -> std::unique_ptr<Network> {
                                return std::make_unique<Gpt>(args, GptSize{4, 4, 128, 128, 256});
                              }};

// The smallest published GPT-2: 124,439,808 parameters; the token table is used at both ends but counted once.
extern const Row<Network> gpt2_small{"gpt2_small", "GPT-2 small: a language model over 1024 tokens",
                                     [](Args& args) -> std::unique_ptr<Network> {
                                       return std::make_unique<Gpt>(args, GptSize{12, 12, 768, 1024, 50257});
                                     }};

}  // namespace isobar::zoo
