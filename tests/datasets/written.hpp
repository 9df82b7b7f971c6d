// Samples for tests of formats: a data set held in memory, and writing it through a format.
#pragma once

#include "isobar/datasets/format.hpp"

#include "tests/datasets/samples.hpp"

namespace isobar::datasets {

/// Samples in memory: samples[i][f] are the numbers of field f.
class Held final : public Dataset {
 public:
  using Samples = std::vector<std::vector<std::vector<float>>>;

  Held(std::vector<Field> fields, Samples samples, std::vector<std::string> classes = {})
      : fields_(std::move(fields)), samples_(std::move(samples)), classes_(std::move(classes)) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(samples_.size()); }
  std::vector<Field> fields() const override { return fields_; }
  std::vector<std::string> classes() const override { return classes_; }
  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    for (std::size_t f = 0; f < out.size(); ++f)
      std::ranges::copy(samples_[static_cast<std::size_t>(index)][f], out[f].begin());
  }

 private:
  std::vector<Field> fields_;
  Samples samples_;
  std::vector<std::string> classes_;
};

/// Integers from 0 to 250 of a shape, with labels i % 3 of shape [1].
inline Held numbered_samples(const Shape& shape, int count, bool labels = true) {
  Held::Samples samples;
  for (int i = 0; i < count; ++i) {
    std::vector<float> x;
    for (std::int64_t k = 0; k < shape.count(); ++k) x.push_back(static_cast<float>((31 * i + 7 * k) % 251));
    samples.push_back({x});
    if (labels) samples.back().push_back({static_cast<float>(i % 3)});
  }
  std::vector<Field> fields{{"x", shape}};
  if (labels) fields.push_back({"y", Shape{1}});
  return Held(fields, samples);
}

/// Writes all samples of a data set.
inline void write_set(const Spec& format, const std::filesystem::path& to, const Dataset& samples) {
  const auto writer = make_writer(format, to, {samples.fields(), samples.size(), samples.classes()});
  for (std::int64_t i = 0; i < samples.size(); ++i) {
    const auto sample = tests::read_sample(samples, i);
    writer->write(std::vector<std::span<const float>>(sample.begin(), sample.end()));
  }
  writer->finish();
}

/// Checks that two data sets are the same, shapes and samples.
inline void expect_same(const Dataset& found, const Dataset& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  ASSERT_EQ(found.fields().size(), wanted.fields().size());
  for (std::size_t f = 0; f < wanted.fields().size(); ++f) {
    EXPECT_EQ(found.fields()[f].name, wanted.fields()[f].name);
    EXPECT_EQ(found.fields()[f].shape, wanted.fields()[f].shape);
  }
  for (std::int64_t i = 0; i < wanted.size(); ++i)
    EXPECT_EQ(tests::read_sample(found, i), tests::read_sample(wanted, i)) << i;
}

/// The data set as which a file or folder is read if its format is not given.
inline std::unique_ptr<Dataset> open_any(const std::filesystem::path& path) {
  return make_dataset(Spec("auto", {{"path", path.string()}}));
}

/// The name of the format that a file or folder is recognised as.
inline std::string format_of(const std::filesystem::path& path) { return std::string(recognise(glance_at(path)).name); }

}  // namespace isobar::datasets
