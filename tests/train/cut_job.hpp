// Jobs whose model can be cut over several ranks: a network that computes every place of a map by itself.
#pragma once

#include <gtest/gtest.h>

#include "tests/split/plain_splits.hpp"
#include "tests/train/recorder.hpp"

namespace isobar::train {

/// Maps [6, 5, 2] and targets [6, 5, 3], made from the number of the sample. Some cannot be read, of which only the
/// part that is behind a row may be bad.
class Maps final : public datasets::Dataset {
 public:
  struct Bad {
    std::int64_t sample, row;
  };
  Maps(std::int64_t count, std::int64_t seed, std::vector<Bad> bad = {})
      : count_(count), seed_(seed), bad_(std::move(bad)) {}

  std::int64_t size() const override { return count_; }
  std::vector<datasets::Field> fields() const override { return {{"x", Shape{6, 5, 2}}, {"y", Shape{6, 5, 3}}}; }
  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    read_region({}, index, whole_region(fields()), out);
  }
  void read_region(const datasets::Reading&, std::int64_t index, std::span<const Box> region,
                   std::span<const std::span<float>> out) const override {
    for (const Bad& bad : bad_)
      if (bad.sample == index && region[0].begin[0] <= bad.row && bad.row < region[0].end(0))
        fail("row {} is gone", bad.row);
    for (std::size_t f = 0; f < out.size(); ++f) {
      const Shape shape = fields()[f].shape;
      std::vector<float> whole(static_cast<std::size_t>(shape.count()));
      for (std::size_t i = 0; i < whole.size(); ++i)
        whole[i] = static_cast<float>((static_cast<std::int64_t>(i) * 37 + index * 101 + seed_ * 53 +
                                       static_cast<std::int64_t>(f) * 17) %
                                      64) /
                       32.0f -
                   1;
      copy_box(Box::whole(shape), whole, region[f], out[f]);
    }
  }
  std::string where(std::int64_t index) const override { return fmt::format("maps sample {}", index); }

 private:
  std::int64_t count_, seed_;
  std::vector<Bad> bad_;
};

inline Model map_model() {
  return {[](std::int64_t batch) {
            graph::Graph g;
            graph::ValueId h = g.input("x", {batch, 6, 5, 2});
            h = g.add("tanh", g.add("conv(filters=8, kernel=1)", h, "conv1"));
            h = g.add("dropout(rate=0.25)", h, "drop");
            h = g.add("conv(filters=3, kernel=1)", h, "conv2");
            g.output("prediction", h);
            g.loss(g.add("mse", {h, g.input("y", {batch, 6, 5, 3})}, "loss"));
            return g;
          },
          {"a", "b", "c"},
          Spec("maps"),
          Spec("mse")};
}

/// Makes the split of a job; none for null.
using SplitMaker = std::function<std::unique_ptr<split::Split>()>;
inline SplitMaker copies(int ways) {
  return [=] { return std::make_unique<tests::Copies>(ways); };
}
inline SplitMaker slabs(int ways) {
  return [=] { return std::make_unique<tests::Slabs>(ways); };
}

struct MapsSetting {
  SplitMaker split{};
  std::vector<const char*> settings{};
  std::vector<Maps::Bad> bad{}, bad_tests{};
  bool resume = false;
};

inline Job map_job(const std::filesystem::path& folder, const MapsSetting& setting) {
  Spec recipe = parse_recipe(small_recipe, "test");
  apply_setting(recipe, "model=maps");
  apply_setting(recipe, "folder=\"" + folder.string() + "\"");
  for (const char* each : setting.settings) apply_setting(recipe, each);
  datasets::Survey survey;
  Job job = read_job(recipe, "test", map_model(), survey);
  job.source = std::make_shared<Maps>(22, 1, setting.bad);
  job.test_source = std::make_shared<Maps>(10, 2, setting.bad_tests);
  const auto seen = [&](const std::shared_ptr<const datasets::Dataset>& source) {
    return job.pipeline ? std::make_shared<transforms::Transformed>(source, job.pipeline) : source;
  };
  if (Validation& set = job.validation; set.is_share()) {
    set.whole = job.source;
    set.source = set.part_kept_apart()(set.whole);
    set.data = seen(set.source);
    job.source = set.part_trained_on()(set.whole);
  }
  job.train_data = seen(job.source);
  job.test_data = seen(job.test_source);
  if (setting.split) job.split = setting.split();
  job.resume = setting.resume;
  return job;
}

inline Ran train_maps(int ranks, const std::filesystem::path& folder, const MapsSetting& setting,
                      Recorder&& recorder = Recorder()) {
  return run_on(
      ranks, [&](int) { return map_job(folder, setting); }, recorder, [&](int) { return &recorder.stop; });
}

/// Whether two runs agree but for the order in which numbers were added.
inline void expect_alike(const Ran& a, const Ran& b, double tolerance = 1e-5) {
  ASSERT_EQ(a.losses.size(), b.losses.size());
  for (std::size_t i = 0; i < a.losses.size(); ++i) EXPECT_NEAR(a.losses[i], b.losses[i], tolerance) << "step " << i;
  ASSERT_EQ(a.weights[0].size(), b.weights[0].size());
  for (const auto& weights : b.weights) EXPECT_EQ(weights, b.weights[0]) << "ranks differ";
  for (std::size_t i = 0; i < a.weights[0].size(); ++i) ASSERT_NEAR(a.weights[0][i], b.weights[0][i], tolerance) << i;
  ASSERT_EQ(a.epochs.size(), b.epochs.size());
  for (std::size_t e = 0; e < a.epochs.size(); ++e) {
    EXPECT_EQ(a.epochs[e].skipped, b.epochs[e].skipped);
    EXPECT_EQ(a.epochs[e].test_skipped, b.epochs[e].test_skipped);
    ASSERT_EQ(a.epochs[e].test.size(), b.epochs[e].test.size());
    for (const auto& [name, value] : a.epochs[e].test) EXPECT_NEAR(value, b.epochs[e].test.at(name), tolerance) << name;
    ASSERT_EQ(a.epochs[e].validation.size(), b.epochs[e].validation.size());
    for (const auto& [name, value] : a.epochs[e].validation)
      EXPECT_NEAR(value, b.epochs[e].validation.at(name), tolerance) << name;
  }
  EXPECT_EQ(a.targets, b.targets);  // every sample once, in order, all of it
  ASSERT_EQ(a.predictions.size(), b.predictions.size());
  for (std::size_t i = 0; i < a.predictions.size(); ++i)
    ASSERT_NEAR(a.predictions[i], b.predictions[i], tolerance) << i;
}

}  // namespace isobar::train
