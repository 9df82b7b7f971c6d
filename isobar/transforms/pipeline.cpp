#include "isobar/transforms/pipeline.hpp"

#include <algorithm>

#include "isobar/hdf5/hdf5_file.hpp"

namespace isobar::transforms {
namespace {

// Where a file stores what a transform has learned.
std::string group_of(std::size_t step) { return fmt::format("{}", step); }

// A Spec stored with what was learned may have been written when the transform had fewer arguments.
std::string resolved_of(const std::string& text) {
  std::vector<std::string> resolved;
  const Pipeline alone(std::span(&text, 1), &resolved);
  return resolved[0];
}

}  // namespace

Pipeline::Pipeline(std::span<const std::string> specs, std::vector<std::string>* resolved) {
  if (resolved) resolved->clear();
  for (const std::string& text : specs) {
    const Spec given(text);
    const Value* field = given.find("field");
    std::vector<std::pair<std::string, Value>> arguments;
    for (const auto& argument : given.arguments())
      if (argument.first != "field") arguments.push_back(argument);
    Spec in_force;
    Step step{text, "", "", make(transforms(), Spec(given.name(), std::move(arguments)), "transform", &in_force)};
    step.field = field ? Args(given, "transform").text("field") : step.transform->field();
    if (field) in_force.set("field", *field);
    step.spec = in_force.str();
    if (resolved) resolved->push_back(step.spec);
    steps_.push_back(std::move(step));
  }
}

bool Pipeline::learns() const {
  return std::ranges::any_of(steps_, [](const Step& step) { return step.transform->learned() != nullptr; });
}

std::vector<std::vector<float>*> Pipeline::learned() {
  std::vector<std::vector<float>*> all;
  for (Step& step : steps_)
    if (std::vector<float>* values = step.transform->learned()) all.push_back(values);
  return all;
}

std::size_t Pipeline::Step::field_of(const std::vector<Grid>& grids) const {
  const auto found = std::ranges::find(grids, field, &Grid::name);
  if (found != grids.end()) return found - grids.begin();
  std::vector<std::string> known;
  for (const Grid& grid : grids) known.push_back(grid.name);
  fail("transform '{}': a sample has no field '{}'{}", name, field, suggestion(field, known));
}

void Pipeline::recall(const std::filesystem::path& file) {
  if (!learns()) return;
  const hdf5::Hdf5File in = hdf5::Hdf5File::open(file);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    std::vector<float>* values = steps_[i].transform->learned();
    if (!values) continue;
    if (!in.exists(group_of(i)) || resolved_of(in.text(group_of(i), "transform")) != steps_[i].spec)
      fail("{}: was not learned by transform {}, '{}'; remove it to learn again", file.string(), i, steps_[i].name);
    values->resize(in.shape(group_of(i)).count());
    in.read<float>(group_of(i), *values);
  }
}

void Pipeline::leave_out_absent(const datasets::Dataset& source) {
  const std::vector<datasets::Field> fields = source.fields();
  std::erase_if(steps_, [&](const Step& step) {
    return std::ranges::none_of(fields, [&](const datasets::Field& field) { return field.name == step.field; });
  });
}

void Pipeline::learn(const datasets::Dataset& train, const std::filesystem::path& file, int threads) {
  if (!learns()) return;
  if (std::filesystem::exists(file)) return recall(file);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (!steps_[i].transform->learned()) continue;
    // Not owned: the pipeline and the training set outlive the learning.
    const Transformed before(std::shared_ptr<const datasets::Dataset>(std::shared_ptr<void>(), &train),
                             std::shared_ptr<const Pipeline>(std::shared_ptr<void>(), this), i);
    steps_[i].transform->learn(before, steps_[i].field_of(FieldRoute(*this, i, train).result()), threads);
  }
  hdf5::Hdf5File out = hdf5::Hdf5File::create(file);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const std::vector<float>* values = steps_[i].transform->learned();
    if (!values) continue;
    out.write<float>(group_of(i), Shape{std::ssize(*values)}, *values);
    out.set_text(group_of(i), "transform", steps_[i].name);
  }
  out.commit();
}

Transformed::Transformed(std::shared_ptr<const datasets::Dataset> source, std::shared_ptr<const Pipeline> pipeline,
                         std::size_t count)
    : source_(std::move(source)), pipeline_(std::move(pipeline)), route_(*pipeline_, count, *source_) {}

Transformed::Transformed(std::shared_ptr<const datasets::Dataset> source, std::shared_ptr<const Pipeline> pipeline)
    : Transformed(std::move(source), pipeline, pipeline->size()) {}

std::vector<datasets::Field> Transformed::fields() const {
  std::vector<datasets::Field> fields;
  for (const Grid& grid : route_.result()) fields.push_back({grid.name, grid.shape});
  return fields;
}

std::vector<std::string> Transformed::classes() const {
  return route_.result().size() > 1 ? route_.result()[1].classes : source_->classes();
}

std::optional<datasets::Geography> Transformed::geography() const {
  const Shape before = source_->fields()[0].shape, after = route_.result()[0].shape;
  if (after.rank() < 2 || before.rank() < 2 || after[0] != before[0] || after[1] != before[1]) return std::nullopt;
  return source_->geography();
}

void Transformed::read(std::int64_t index, std::span<const std::span<float>> out) const { read_varied({}, index, out); }

void Transformed::read_varied(const datasets::Reading& reading, std::int64_t index,
                              std::span<const std::span<float>> out) const {
  expects_request(index, out);
  route_.read(*source_, reading, index, out);
}

void Transformed::read_region(const datasets::Reading& reading, std::int64_t index, std::span<const Box> region,
                              std::span<const std::span<float>> out) const {
  expects_request(index, region, out);
  route_.read_region(*source_, reading, index, region, out);
}

}  // namespace isobar::transforms
