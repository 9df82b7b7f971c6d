// Trial: a network bound to one fixed random batch, so that its loss is a function of its weights.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "isobar/base/random.hpp"
#include "isobar/exec/executor.hpp"
#include "isobar/zoo/network.hpp"

namespace isobar::zoo {

class Trial {
 public:
  Trial(const Spec& spec, std::int64_t batch, std::int64_t tokens)
      : Trial(training_graph(*make_network(spec), batch), make_network(spec)->loss(), tokens) {}

  /// `tokens` above 0: the input holds whole numbers below it. Weights start from the network's initialisers.
  Trial(graph::Graph graph, const Spec& loss, std::int64_t tokens, const graph::PlanOptions& options = {})
      : graph_(std::move(graph)),
        store_(graph::make_plan(graph_), 0),
        executor_(graph::make_plan(graph_, options), store_),
        x_(input(tokens)),
        y_(target(loss)) {
    for (std::int64_t i = 0; i < graph_.value(graph_.find("x")).shape[0]; ++i) samples_.push_back(i);
    store_.initialize(3);
    executor_.bind("x", x_);
    executor_.bind("y", y_);
  }

  /// Starts again from other weights.
  void restart(std::uint64_t seed) { store_.initialize(seed); }

  const graph::Graph& graph() const { return graph_; }
  exec::ParamStore& store() { return store_; }
  const std::vector<float>& x() const { return x_; }
  const std::vector<float>& y() const { return y_; }
  std::vector<float> plain(int p, std::span<const float> stored) const {
    std::vector<float> values(static_cast<std::size_t>(store_.parameter(p).declared.shape.count()));
    store_.read_plain(p, stored, values);
    return values;
  }

  std::span<const float> output(const std::string& name) const { return executor_.output(name); }
  double loss() {
    executor_.forward(run());
    return executor_.output("loss")[0];
  }

  /// Computes the gradients at the current weights and returns the loss.
  double backward() {
    const double value = loss();
    executor_.backward(run());
    return value;
  }

 private:
  exec::Run run() const { return {.seed = 1, .samples = samples_}; }

  std::vector<float> input(std::int64_t tokens) const {
    std::vector<float> x(static_cast<std::size_t>(graph_.value(graph_.find("x")).shape.count()));
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = tokens > 0 ? static_cast<float>(Random(7).below(i, static_cast<std::uint64_t>(tokens)))
                        : static_cast<float>(2 * Random(7).uniform(i) - 1);
    return x;
  }

  // Targets that are valid for the loss: classes, labels, one box in every third cell, or plain numbers.
  std::vector<float> target(const Spec& loss) const {
    const Shape& shape = graph_.value(graph_.find("y")).shape;
    const auto last = static_cast<std::uint64_t>(graph_.value(graph_.find("prediction")).shape[-1]);
    std::vector<float> y(static_cast<std::size_t>(shape.count()));
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (loss.name() == "softmax_cross_entropy") y[i] = static_cast<float>(Random(8).below(i, last));
      else if (loss.name() == "sigmoid_cross_entropy") y[i] = static_cast<float>(Random(8).below(i, 2));
      else y[i] = static_cast<float>(2 * Random(8).uniform(i) - 1);
    }
    if (loss.name() != "detection_loss") return y;
    for (std::size_t cell = 0; cell * last < y.size(); ++cell) {
      const bool object = cell % 3 == 0;
      float* numbers = y.data() + cell * last;
      std::fill(numbers + (object ? 4 : 0), numbers + last, 0.0f);
      numbers[object ? 4 : 5] = 1;
      if (object) numbers[6 + Random(9).below(cell, last - 6)] = 1;
    }
    return y;
  }

  graph::Graph graph_;
  exec::ParamStore store_;
  exec::Executor executor_;
  std::vector<float> x_, y_;
  std::vector<std::int64_t> samples_;
};

}  // namespace isobar::zoo
