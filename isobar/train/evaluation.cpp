#include "isobar/train/evaluation.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::train {

std::vector<std::pair<std::string, std::span<const float>>> named_inputs(const graph::Plan& plan,
                                                                         const data::Dataset& dataset,
                                                                         const data::Batch& batch) {
  std::vector<std::pair<std::string, std::span<const float>>> inputs;
  const std::vector<data::Field> fields = dataset.fields();
  for (std::size_t f = 0; f < fields.size(); ++f)
    if (std::any_of(plan.inputs.begin(), plan.inputs.end(), [&](const auto& i) { return i.name == fields[f].name; }))
      inputs.emplace_back(fields[f].name, batch.fields[f].span());
  return inputs;
}

void expect_fields(const graph::Plan& plan, const data::Dataset& dataset, const std::string& what) {
  const std::vector<data::Field> fields = dataset.fields();
  for (const graph::PlanInput& input : plan.inputs) {
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.name == input.name; });
    if (found == fields.end()) {
      std::vector<std::string> known;
      for (const data::Field& f : fields) known.push_back(f.name);
      fail("{}: the network needs the field '{}'; the data set has {}", what, input.name, join(known, ", "));
    }
    const Shape wanted = sample_shape(input.shape);
    if (found->shape != wanted)
      fail("{}: field '{}' of a sample is {}, the network expects {}", what, input.name, found->shape.str(),
           wanted.str());
  }
}

Shape sample_shape(const Shape& batch) {
  return Shape(std::vector(batch.extents().begin() + 1, batch.extents().end()));
}

void reset_metrics(const graph::Plan& plan, const Job& job) {
  if (job.metrics.empty()) return;
  const auto y = std::find_if(plan.inputs.begin(), plan.inputs.end(), [](const auto& i) { return i.name == "y"; });
  expects(y != plan.inputs.end(), "a graph with the target input 'y'");
  const Shape prediction = sample_shape(plan.output_shapes.at("prediction")), target = sample_shape(y->shape);
  for (const auto& metric : job.metrics) metric->reset(prediction, target);
}

Evaluated evaluate(exec::Executor& executor, const Job& job, const std::atomic<bool>* stop) {
  const data::Sampler sampler{job.test_data->size(), job.batch, job.seed, false, false};
  data::Loader loader(*job.test_data, sampler,
                      {.threads = job.readers, .ahead = job.ahead, .last_epoch = 1, .on_bad = job.on_bad});
  const std::int64_t width = executor.plan().output_shapes.at("prediction").count() / job.batch;
  const bool keep = width * job.test_data->size() <= max_kept_predictions;
  Evaluated evaluated;
  reset_metrics(executor.plan(), job);
  double loss = 0;
  std::int64_t samples = 0;
  while (const data::Batch* batch = loader.next()) {
    if (stop && *stop) return {.complete = false};
    if (batch->count == 0) continue;  // nothing but bad samples
    const auto inputs = named_inputs(executor.plan(), *job.test_data, *batch);
    for (const auto& [name, data] : inputs) executor.bind(name, data);
    executor.forward({.seed = job.seed, .samples = batch->samples, .rows = batch->count});
    const auto numbers = static_cast<std::size_t>(batch->count * width);
    const std::span<const float> prediction = executor.output("prediction").first(numbers);
    const auto y = std::find_if(inputs.begin(), inputs.end(), [](const auto& i) { return i.first == "y"; });
    expects(y != inputs.end(), "a graph with the target input 'y'");
    const std::span<const float> target = y->second.first(static_cast<std::size_t>(batch->count) * y->second.size() /
                                                          static_cast<std::size_t>(job.batch));
    for (const auto& metric : job.metrics) metric->add(prediction, target);
    loss += static_cast<double>(executor.output("loss")[0]) * batch->count;
    samples += batch->count;
    if (keep) {
      evaluated.predictions.insert(evaluated.predictions.end(), prediction.begin(), prediction.end());
      evaluated.targets.insert(evaluated.targets.end(), target.begin(), target.end());
    }
  }
  evaluated.skipped = loader.skipped();
  if (samples > 0) evaluated.results["loss"] = loss / static_cast<double>(samples);
  for (const auto& metric : job.metrics) evaluated.results.merge(metric->values(job.model.target_names));
  return evaluated;
}

}  // namespace isobar::train
