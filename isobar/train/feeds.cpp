#include "isobar/train/feeds.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::train {

Shape sample_shape(const Shape& batch) {
  return Shape(std::vector(batch.extents().begin() + 1, batch.extents().end()));
}

const Shape* shape_of(const std::vector<datasets::Field>& fields, std::string_view name) {
  const auto found = std::ranges::find(fields, name, &datasets::Field::name);
  return found == fields.end() ? nullptr : &found->shape;
}

std::vector<datasets::Field> fields_of(const graph::Plan& plan) {
  std::vector<datasets::Field> fields;
  for (const graph::PlanInput& input : plan.inputs) fields.push_back({input.name, sample_shape(input.shape)});
  return fields;
}

void expect_fields(const std::vector<datasets::Field>& wanted, const datasets::Dataset& dataset,
                   const std::string& what) {
  const std::vector<datasets::Field> fields = dataset.fields();
  for (const datasets::Field& input : wanted) {
    const Shape* const found = shape_of(fields, input.name);
    if (!found) {
      std::vector<std::string> known;
      for (const datasets::Field& f : fields) known.push_back(f.name);
      fail("{}: the network needs the field '{}'; the data set has {}", what, input.name, join(known, ", "));
    }
    if (*found != input.shape)
      fail("{}: field '{}' of a sample is {}, the network expects {}", what, input.name, found->str(),
           input.shape.str());
  }
}

std::vector<std::pair<std::string, std::span<const float>>> named_inputs(const graph::Plan& plan,
                                                                         const datasets::Dataset& dataset,
                                                                         const feeding::Batch& batch,
                                                                         std::int64_t first_row) {
  std::vector<std::pair<std::string, std::span<const float>>> inputs;
  const std::vector<datasets::Field> fields = dataset.fields();
  for (std::size_t f = 0; f < fields.size(); ++f)
    for (const graph::PlanInput& input : plan.inputs) {
      if (input.name != fields[f].name) continue;
      const auto width = static_cast<std::size_t>(fields[f].shape.count());
      inputs.emplace_back(input.name, batch.fields[f].span().subspan(static_cast<std::size_t>(first_row) * width,
                                                                     static_cast<std::size_t>(input.shape.count())));
    }
  return inputs;
}

std::span<const float> first_rows(const datasets::Dataset& dataset, const feeding::Batch& batch,
                                  std::string_view name) {
  const std::vector<datasets::Field> fields = dataset.fields();
  for (std::size_t f = 0; f < fields.size(); ++f)
    if (fields[f].name == name)
      return batch.fields[f].span().first(static_cast<std::size_t>(batch.count * fields[f].shape.count()));
  return {};
}

}  // namespace isobar::train
