#include "isobar/train/predictor.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/comm/collectives.hpp"
#include "isobar/train/feeds.hpp"

namespace isobar::train {
namespace {

const ReplicaPart whole_model_here;

// The loss that the recipe names, of predictions and targets; nothing more, as auxiliary terms of some networks.
graph::Plan plan_of_loss(const Model& model, std::int64_t rows) {
  const graph::Graph network = model.graph(rows);
  graph::Graph graph;
  const auto input = [&](const std::string& name, graph::ValueId like) {
    return graph.input(name, network.value(like).shape);
  };
  const graph::ValueId prediction = input("prediction", network.outputs().at("prediction"));
  const graph::ValueId y = input("y", network.find("y"));
  graph.loss(graph.add(model.loss, {prediction, y}, "loss"));
  return graph::make_plan(graph, {.phase = ops::Phase::inference});
}

}  // namespace

struct Predictor::LossAlone {
  explicit LossAlone(graph::Plan plan)
      : predictions(static_cast<std::size_t>(plan.inputs.front().shape.count())),
        store(plan, 0),
        executor(std::move(plan), store) {
    executor.bind("prediction", predictions);
  }

  std::vector<float> predictions;  // rows without samples are zero
  exec::ParamStore store;
  exec::Executor executor;
};

Predictor::Predictor(exec::Executor& network) : Predictor(network, whole_model_here) {}

Predictor::Predictor(exec::Executor& network, const ReplicaPart& part)
    : networks_{&network},
      part_(part),
      prediction_shape_(part.alone() ? sample_shape(plan().output_shapes.at("prediction")) : part.prediction()) {}

Predictor::Predictor(std::vector<exec::Executor*> networks, const ReplicaPart& part, const Model& model)
    : networks_(std::move(networks)),
      part_(part),
      prediction_shape_(sample_shape(plan().output_shapes.at("prediction"))),
      mean_(std::make_unique<PredictionMean>(squash_of(model.loss.name()),
                                             prediction_shape_.rank() > 0 ? prediction_shape_[-1] : 1)) {
  expects(part.alone() || networks_.size() == 1, "one network on each of several ranks");
  if (with_loss() && part.is_first()) loss_of_mean_ = std::make_unique<LossAlone>(plan_of_loss(model, plan().rows));
}

Predictor::~Predictor() = default;

void Predictor::bind(const std::string& input, std::span<const float> numbers) {
  for (exec::Executor* const network : networks_) network->bind(input, numbers);
  if (loss_of_mean_ && input == "y") loss_of_mean_->executor.bind(input, numbers);
}

void Predictor::forward(const exec::Run& run) {
  expects(run.rows > 0, "rows to be predicted");
  const std::size_t width = plan().output_shapes.at("prediction").count() / plan().rows;
  const std::size_t count = width * static_cast<std::size_t>(run.rows);
  if (mean_) return average(run, count);
  exec::Executor& network = *networks_.front();
  network.forward(run);
  loss_ = with_loss() ? part_.loss_share() * static_cast<double>(network.output("loss")[0]) : 0;
  prediction_ = part_.whole_predictions(network.output("prediction").first(count), run.rows);
}

// One network after another, whether they are on one rank or on several: the mean has the same bits.
void Predictor::average(const exec::Run& run, std::size_t count) {
  mean_->begin();
  for (exec::Executor* const network : networks_) {
    network->forward(run);
    const std::span<const float> mine = network->output("prediction").first(count);
    if (part_.alone()) mean_->add(mine);
    else part_.each_prediction(mine, [&](std::span<const float> theirs) { mean_->add(theirs); });
  }
  prediction_ = {};
  loss_ = 0;
  if (!part_.is_first()) return;
  prediction_ = mean_->scores();
  if (!loss_of_mean_) return;
  std::ranges::copy(prediction_, loss_of_mean_->predictions.begin());
  loss_of_mean_->executor.forward({.rows = run.rows});
  loss_ = static_cast<double>(loss_of_mean_->executor.output("loss")[0]);
}

}  // namespace isobar::train
