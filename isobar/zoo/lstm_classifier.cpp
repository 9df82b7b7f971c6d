// lstm_classifier: classifies sequences, as Neural Code Comprehension classifies programs: two LSTM layers, the second
// with only its last output, batch normalisation, a dense layer with ReLU and a dense layer with one output per class.
// 651,864 trained parameters with 200 features, 200 units and 104 classes. x is [N, length, features], or with a
// vocabulary [N, length] row numbers of an embedding table, which is frozen unless train_embedding is set.
// output=sigmoid: the source's sigmoids, normalised to sum 1 inside its cross entropy, which is a softmax of log
// sigmoid.
#include <cmath>

#include "isobar/zoo/network.hpp"

namespace isobar::zoo {
namespace {

class LstmClassifier final : public Network {
 public:
  explicit LstmClassifier(Args& args)
      : length_(args.integer("length", 128)),
        features_(args.integer("features", 200)),
        units_(args.integer("units", 200)),
        hidden_(args.integer("hidden", 32)),
        classes_(args.integer("classes", 104)),
        vocabulary_(args.integer("vocabulary", 0)),
        train_embedding_(args.flag("train_embedding", false)),
        sigmoid_(args.one_of("output", "sigmoid", {"sigmoid", "softmax"}) == "sigmoid") {
    args.require(length_ >= 1 && features_ >= 1 && units_ >= 1 && hidden_ >= 1,
                 "length, features, units and hidden must be at least 1");
    args.require(classes_ >= 2, "classes must be at least 2");
    args.require(vocabulary_ >= 0, "vocabulary must be a number of rows, or 0 for sequences that are embedded already");
    args.require(vocabulary_ > 0 || !train_embedding_, "train_embedding needs a vocabulary");
  }

  void build(graph::Graph& graph, std::int64_t batch) const override {
    graph::ValueId h = sequence(graph, batch);
    h = lstm(graph, h, true, "lstm1");
    h = lstm(graph, h, false, "lstm2");
    h = graph.add("batch_norm(momentum=0.01, eps=1e-3, unbiased=false)", h, "norm");  // Keras's defaults
    h = graph.add("relu", graph.add(fmt::format("dense(units={})", hidden_), h, "hidden"));
    h = graph.add(fmt::format("dense(units={})", classes_), h, "classes");
    if (sigmoid_) {  // log sigmoid(z) = -softplus(-z)
      h = graph.add("softplus", graph.add("scale(by=-1)", h, "negative"));
      h = graph.add("scale(by=-1)", h, "log_sigmoid");
    }
    graph.output("prediction", h);
  }

  Shape target(std::int64_t batch) const override { return {batch, 1}; }
  Spec loss() const override { return "softmax_cross_entropy"; }

 private:
  // Weights start as in Keras, with Glorot's distribution over all gates. Keras starts recurrent weights with an
  // orthogonal matrix; here they only have the same variance.
  graph::ValueId lstm(graph::Graph& graph, graph::ValueId h, bool sequence, const std::string& name) const {
    const double gates = 4.0 * units_;
    const double bound = std::sqrt(6 / (static_cast<double>(graph.value(h).shape[-1]) + gates));
    return graph.add(fmt::format("lstm(units={}, sequence={}, forget_bias=1, init=uniform(low={}, high={}), "
                                 "recurrent_init=gaussian(std={}))",
                                 units_, sequence, -bound, bound, std::sqrt(1 / gates)),
                     h, name);
  }

  graph::ValueId sequence(graph::Graph& graph, std::int64_t batch) const {
    if (vocabulary_ == 0) return graph.input("x", {batch, length_, features_});
    const graph::ValueId x = graph.input("x", {batch, length_});
    ops::Parameter table{"w", {vocabulary_, features_}, "uniform(low=-1, high=1)"};
    table.trained = train_embedding_;
    return graph.add(fmt::format("embedding(rows={}, width={})", vocabulary_, features_),
                     {x, graph.parameter("embedding.w", table)}, "embedding");
  }

  std::int64_t length_, features_, units_, hidden_, classes_, vocabulary_;
  bool train_embedding_, sigmoid_;
};

}  // namespace

extern const Row<Network> lstm_classifier{"lstm_classifier",
                                          "two LSTM layers and a classifier: programs or other sequences in classes",
                                          make_member<LstmClassifier>};

}  // namespace isobar::zoo
