#include "isobar/train/viewer.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/comm/collectives.hpp"
#include "isobar/train/feeds.hpp"

namespace isobar::train {
namespace {

constexpr int input_tag = 1;

// What the first rank of a replica tells the others.
enum class Word : std::int64_t { computes, released };

Word told(const ReplicaPart& part, Word word = {}) {
  if (!part.alone()) broadcast_object(part.ranks(), word);
  return word;
}

}  // namespace

Viewer::Viewer(Predictor& predictor, const datasets::Dataset& dataset)
    : predictor_(predictor),
      dataset_(dataset),
      part_(predictor.part()),
      inputs_(part_.alone() ? fields_of(predictor.plan()) : part_.inputs()) {
  // Rows after the first are not used; they stay zero.
  for (const graph::PlanInput& input : predictor_.plan().inputs)
    bound_[input.name].resize(static_cast<std::size_t>(input.shape.count()));
}

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
  view.loss = loss_;
  return view;
}

Values Viewer::predict(const std::map<std::string, Values>& inputs) {
  check(inputs);
  told(part_, Word::computes);
  deal_out(inputs);
  return compute();
}

void Viewer::release() { told(part_, Word::released); }

void Viewer::attend() {
  while (told(part_) == Word::computes) {
    take_inputs();
    compute();
  }
}

void Viewer::check(const std::map<std::string, Values>& inputs) const {
  for (const datasets::Field& input : inputs_) {
    const auto given = inputs.find(input.name);
    if (given == inputs.end() || given->second.shape == input.shape) continue;
    fail("input '{}' of a sample is {}, the network expects {}", input.name, given->second.shape.str(),
         input.shape.str());
  }
}

// Every rank of the replica gets its part of each input.
void Viewer::deal_out(const std::map<std::string, Values>& inputs) {
  std::vector<float> part;
  for (const datasets::Field& input : inputs_) {
    const auto given = inputs.find(input.name);
    for (int rank = 0; rank < part_.ways(); ++rank) {
      const Box box = part_.box_of(input, rank);
      part.assign(static_cast<std::size_t>(box.count()), 0.0f);
      if (given != inputs.end()) copy_box(Box::whole(input.shape), given->second.numbers, box, part);
      if (rank > 0) part_.ranks().send(rank, input_tag, std::as_bytes(std::span(part)));
      else std::ranges::copy(part, row_of(input).begin());
    }
  }
}

void Viewer::take_inputs() {
  for (const datasets::Field& input : inputs_)
    part_.ranks().receive(0, input_tag, std::as_writable_bytes(row_of(input)));
}

// This rank's part of an input, in the first row; inputs that its plan does not have need memory, too.
std::span<float> Viewer::row_of(const datasets::Field& input) {
  const std::size_t count = part_.box_of(input, part_.alone() ? 0 : part_.ranks().rank()).count();
  std::vector<float>& rows = bound_[input.name];
  if (rows.size() < count) rows.resize(count);
  return std::span(rows).first(count);
}

Values Viewer::compute() {
  for (const graph::PlanInput& input : predictor_.plan().inputs) predictor_.bind(input.name, bound_[input.name]);
  predictor_.forward({.rows = 1});
  if (predictor_.with_loss()) loss_ = part_.sum(predictor_.loss());
  const std::span<const float> first = predictor_.prediction();
  return {prediction_shape(), {first.begin(), first.end()}};
}

}  // namespace isobar::train
