#include "isobar/train/viewer.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"

namespace isobar::train {
namespace {

Shape without_batch(const Shape& shape) { return Shape({shape.extents().begin() + 1, shape.extents().end()}); }

}  // namespace

View Viewer::look(std::int64_t sample) {
  expects(sample >= 0 && sample < dataset_.size(), "a sample of the set");
  View view;
  view.sample = sample;
  const std::vector<datasets::Field> fields = dataset_.fields();
  std::vector<std::span<float>> out;
  for (const datasets::Field& field : fields) {
    Values& values = view.fields[field.name];
    values.shape = field.shape;
    values.numbers.resize(static_cast<std::size_t>(field.shape.count()));
    out.emplace_back(values.numbers);
  }
  dataset_.read(sample, out);
  view.prediction = predict(view.fields);
  if (plan().outputs.contains("loss")) view.loss = static_cast<double>(executor_.output("loss")[0]);
  return view;
}

Values Viewer::predict(const std::map<std::string, Values>& inputs) {
  // Rows after the first are not used; they stay zero.
  for (const graph::PlanInput& input : plan().inputs) {
    std::vector<float>& rows = bound_[input.name];
    rows.assign(static_cast<std::size_t>(input.shape.count()), 0.0f);
    if (const auto given = inputs.find(input.name); given != inputs.end()) {
      const Shape wanted = without_batch(input.shape);
      if (given->second.shape != wanted)
        fail("input '{}' of a sample is {}, the network expects {}", input.name, given->second.shape.str(),
             wanted.str());
      std::ranges::copy(given->second.numbers, rows.begin());
    }
    executor_.bind(input.name, rows);
  }
  executor_.forward({.rows = 1});
  Values prediction;
  prediction.shape = without_batch(plan().output_shapes.at("prediction"));
  const auto first = executor_.output("prediction").first(static_cast<std::size_t>(prediction.shape.count()));
  prediction.numbers.assign(first.begin(), first.end());
  return prediction;
}

}  // namespace isobar::train
