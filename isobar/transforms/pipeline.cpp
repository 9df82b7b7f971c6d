#include "isobar/transforms/pipeline.hpp"

#include <algorithm>

#include "isobar/files/hdf5_file.hpp"

namespace isobar::transforms {
namespace {

constexpr std::uint64_t stream = 0x7a;  // of random numbers, apart from those of shuffling and dropout

// The memory of a reader for shapes between the first and the last; two are enough to go from one to the other.
struct Scratch {
  std::vector<float> memory[2];
  std::vector<std::span<float>> fields;
};

}  // namespace

Pipeline::Pipeline(std::span<const std::string> specs, std::vector<std::string>* resolved) {
  if (resolved) resolved->clear();
  for (const std::string& text : specs) {
    Spec in_force;
    steps_.push_back({text, make(transforms(), Spec(text), "transform", &in_force)});
    if (resolved) resolved->push_back(in_force.str());
  }
}

Shape Pipeline::infer(Shape x, std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i) x = steps_[i].transform->infer(x);
  return x;
}

bool Pipeline::moves() const {
  return std::ranges::any_of(steps_, [](const Step& step) { return step.transform->moves(); });
}

bool Pipeline::learns() const {
  return std::ranges::any_of(steps_, [](const Step& step) { return step.transform->learned() != nullptr; });
}

void Pipeline::read(const data::Dataset& source, const data::Reading& reading, std::int64_t index,
                    std::span<const std::span<float>> out, std::size_t count) const {
  thread_local Scratch scratch;
  Shape shape = source.fields()[0].shape;
  const auto numbers = [](const Shape& s) { return static_cast<std::size_t>(s.count()); };
  // Up to the last change of shape numbers lie in scratch memory, from there on where they belong.
  std::size_t last_change = 0;
  Shape after = shape;
  for (std::size_t i = 0; i < count; ++i) {
    const Shape next = steps_[i].transform->infer(after);
    if (next != after) last_change = i + 1;
    after = next;
  }
  int side = 0;
  std::span<float> x = out[0];
  if (last_change > 0) {
    scratch.memory[side].resize(numbers(shape));
    x = scratch.memory[side];
  }
  scratch.fields.assign(out.begin(), out.end());
  scratch.fields[0] = x;
  source.read_varied(reading, index, scratch.fields);
  const Random sample = Random(reading.seed, stream)
                            .sub(static_cast<std::uint64_t>(reading.epoch))
                            .sub(static_cast<std::uint64_t>(index));
  for (std::size_t i = 0; i < count; ++i) {
    const Transform& transform = *steps_[i].transform;
    const Shape next = transform.infer(shape);
    std::span<float> to = x;
    if (i + 1 == last_change) {
      to = out[0];
    } else if (next != shape) {
      side = 1 - side;
      scratch.memory[side].resize(numbers(next));
      to = scratch.memory[side];
    }
    transform.apply(shape, x, to, {reading.training, sample.sub(i)});
    shape = next;
    x = to;
  }
}

void Pipeline::learn(const data::Dataset& train, const std::filesystem::path& file, int threads) {
  if (!learns()) return;
  const bool kept = std::filesystem::exists(file);
  const auto group = [this](std::size_t i) { return fmt::format("{}", i); };
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    std::vector<float>* values = steps_[i].transform->learned();
    if (!values) continue;
    if (kept) {
      const files::Hdf5File in = files::Hdf5File::open(file);
      if (!in.exists(group(i)) || in.text(group(i), "transform") != steps_[i].name)
        fail("{}: was not learned by transform {}, '{}'; remove it to learn anew", file.string(), i, steps_[i].name);
      values->resize(static_cast<std::size_t>(in.shape(group(i)).count()));
      in.read<float>(group(i), *values);
    } else {
      // Borrowed for the time of learning: the pipeline and the training set outlive it.
      const Transformed before(std::shared_ptr<const data::Dataset>(std::shared_ptr<void>(), &train),
                               std::shared_ptr<const Pipeline>(std::shared_ptr<void>(), this), i);
      steps_[i].transform->learn(before, threads);
    }
  }
  if (kept) return;
  files::Hdf5File out = files::Hdf5File::create(file);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const std::vector<float>* values = steps_[i].transform->learned();
    if (!values) continue;
    out.write<float>(group(i), Shape{static_cast<std::int64_t>(values->size())}, *values);
    out.set_text(group(i), "transform", steps_[i].name);
  }
  out.commit();
}

Transformed::Transformed(std::shared_ptr<const data::Dataset> source, std::shared_ptr<const Pipeline> pipeline,
                         std::size_t count)
    : source_(std::move(source)), pipeline_(std::move(pipeline)), count_(count), fields_(source_->fields()) {
  fields_[0].shape = pipeline_->infer(fields_[0].shape, count_);
  for (std::size_t f = 1; f < fields_.size(); ++f)
    if (pipeline_->moves() && fields_[f].shape.rank() > 1)
      fail("transforms: crop and mirror change x alone; field '{}' is {} and would no longer fit it", fields_[f].name,
           fields_[f].shape.str());
}

Transformed::Transformed(std::shared_ptr<const data::Dataset> source, std::shared_ptr<const Pipeline> pipeline)
    : Transformed(std::move(source), pipeline, pipeline->size()) {}

void Transformed::read(std::int64_t index, std::span<const std::span<float>> out) const { read_varied({}, index, out); }

void Transformed::read_varied(const data::Reading& reading, std::int64_t index,
                              std::span<const std::span<float>> out) const {
  expects_request(index, out);
  pipeline_->read(*source_, reading, index, out, count_);
}

}  // namespace isobar::transforms
