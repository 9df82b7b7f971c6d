#include "isobar/transforms/pipeline.hpp"

#include <set>

#include "isobar/feeding/loader.hpp"

#include "tests/datasets/samples.hpp"

namespace isobar::transforms {
namespace {

using tests::error_of;
using tests::read_sample;
using tests::TemporaryFolder;

// x [4, 4, 1] = index + 100 * position, y = index.
class Ramp final : public datasets::Dataset {
 public:
  explicit Ramp(std::int64_t count, Shape target = {1}) : count_(count), target_(std::move(target)) {}
  std::int64_t size() const override { return count_; }
  std::vector<datasets::Field> fields() const override { return {{"x", Shape{4, 4, 1}}, {"y", target_}}; }
  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    ++reads;
    for (std::size_t i = 0; i < 16; ++i) out[0][i] = static_cast<float>(index) + 100.0f * static_cast<float>(i);
    std::ranges::fill(out[1], static_cast<float>(index));
  }
  std::string where(std::int64_t index) const override { return fmt::format("ramp {}", index); }
  mutable std::atomic<int> reads = 0;

 private:
  std::int64_t count_;
  Shape target_;
};

std::shared_ptr<Pipeline> pipeline(std::vector<std::string> specs) { return std::make_shared<Pipeline>(specs); }

TEST(Pipeline, TransformsInOrderThroughChangingShapes) {
  const Transformed set(std::make_shared<Ramp>(3), pipeline({"scale(by=2)", "crop(size=3)", "standardize(mean=1)",
                                                             "crop(size=[2, 1])", "scale(by=10)"}));
  EXPECT_EQ(set.fields()[0].shape, (Shape{2, 1, 1}));
  EXPECT_EQ(set.size(), 3);
  EXPECT_EQ(set.where(2), "ramp 2");
  // Cut at (0, 0), then at (0, 1): positions 1 and 5 of the source.
  EXPECT_EQ(read_sample(set, 2), (std::vector<std::vector<float>>{{10 * (2 * 102 - 1), 10 * (2 * 502 - 1)}, {2}}));
  const Transformed same(std::make_shared<Ramp>(3), pipeline({"scale(by=2)", "standardize(mean=1)"}));
  EXPECT_EQ(read_sample(same, 1)[0][15], 2 * 1501.0f - 1);
}

TEST(Pipeline, WhatWasLearnedIsRecalledWithoutTheTrainingSet) {
  const TemporaryFolder folder;
  const std::vector<std::string> given{"scale(by=0.5)", "subtract_mean"};
  std::vector<std::string> resolved;
  Pipeline first(given, &resolved);
  first.learn(Ramp(41), folder / "learned.h5", 1);
  // A run is recalled with the recipe it wrote, which contains every argument.
  const auto again = pipeline(resolved);
  again->recall(folder / "learned.h5");
  EXPECT_EQ(*again->learned()[0], *first.learned()[0]);
  EXPECT_HAS(error_of([&] {
               pipeline({"scale", "scale", "subtract_mean"})->recall(folder / "learned.h5");
             }),
             "was not learned by transform 2");
  EXPECT_HAS(error_of([&] { pipeline({"subtract_mean"})->recall(folder / "absent.h5"); }), "no such file");
  pipeline({"scale"})->recall(folder / "absent.h5");  // nothing to recall
}

TEST(Pipeline, TransformsOfTargetsNobodyKnowsAreLeftOut) {
  const auto list = pipeline({"scale(by=2)", "scale(by=3, field=y)", "scale(by=10, field=weights)"});
  const auto source = std::make_shared<Ramp>(3);
  list->leave_out_absent(*source);
  EXPECT_EQ(list->size(), 2u);
  const Transformed set(source, list);
  EXPECT_EQ(read_sample(set, 2)[0][0], 4);
  EXPECT_EQ(read_sample(set, 2)[1][0], 6);
}

TEST(Pipeline, AGridKeepsItsPlacesUntilItChanges) {
  const std::shared_ptr<const datasets::Dataset> source =
      datasets::make_dataset("atmosphere(height=16, width=24, count=2, channels=[TMQ])");
  EXPECT_EQ(Transformed(source, pipeline({"scale"})).geography()->row.places, source->geography()->row.places);
  EXPECT_FALSE(Transformed(source, pipeline({"crop(size=4)"})).geography());
  EXPECT_FALSE(Transformed(std::make_shared<Ramp>(3), pipeline({"scale"})).geography());
}

TEST(Pipeline, TheMeanIsThatOfTheTrainingSet) {
  const TemporaryFolder folder;
  const auto train = std::make_shared<Ramp>(41), test = std::make_shared<Ramp>(2);
  std::vector<float> first;
  for (const int threads : {1, 3}) {
    const auto list = pipeline({"scale(by=0.5)", "subtract_mean", "crop(size=2)"});
    EXPECT_TRUE(list->learns());
    list->learn(*train, folder / fmt::format("learned{}.h5", threads), threads);
    const Transformed set(test, list);
    const auto sample = read_sample(set, 1);
    for (const float x : sample[0]) EXPECT_EQ(x, (1 - 20) / 2.0f);  // the mean of 0..40 is 20 at every position
    if (first.empty()) first = sample[0];
    EXPECT_EQ(sample[0], first);
  }
}

TEST(Pipeline, WhatWasLearnedIsKept) {
  const TemporaryFolder folder;
  const Ramp train(8);
  pipeline({"subtract_mean"})->learn(train, folder / "learned.h5", 2);
  EXPECT_EQ(train.reads, 8);
  const auto again = pipeline({"subtract_mean"});
  again->learn(train, folder / "learned.h5", 2);
  EXPECT_EQ(train.reads, 8);
  const Transformed set(std::make_shared<Ramp>(8), again);
  EXPECT_EQ(read_sample(set, 0)[0][7], -3.5f);
  EXPECT_HAS(error_of([&] {
               pipeline({"mirror", "subtract_mean"})->learn(train, folder / "learned.h5", 1);
             }),
             "remove it");
  pipeline({"mirror", "scale"})->learn(train, folder / "none.h5", 1);
  EXPECT_FALSE(std::filesystem::exists(folder / "none.h5"));
}

TEST(Pipeline, FieldsWithThePlacesOfXMoveWithIt) {
  // y holds the place of every number of x, as a map of classes would.
  class Map final : public datasets::Dataset {
   public:
    std::int64_t size() const override { return 40; }
    std::vector<datasets::Field> fields() const override {
      return {{"x", Shape{4, 4, 2}}, {"y", Shape{4, 4}}, {"weight", Shape{1}}};
    }
    void read(std::int64_t index, std::span<const std::span<float>> out) const override {
      for (std::size_t i = 0; i < 16; ++i) {
        out[0][2 * i] = out[0][2 * i + 1] = static_cast<float>(i);
        out[1][i] = static_cast<float>(i);
      }
      out[2][0] = static_cast<float>(index);
    }
  };
  const auto source = std::make_shared<Map>();
  const Transformed set(source, pipeline({"crop(size=3)", "mirror", "rotate(reflections=true)", "mirror(axes=0)"}));
  ASSERT_EQ(set.fields()[1].shape, (Shape{3, 3}));
  std::set<std::vector<float>> seen;
  for (std::int64_t i = 0; i < 40; ++i) {
    std::vector<float> x(18), y(9), weight(1);
    const std::vector<std::span<float>> out{x, y, weight};
    set.read_varied({1, 0, true}, i, out);
    for (std::size_t k = 0; k < 9; ++k) EXPECT_EQ(x[2 * k], y[k]);
    EXPECT_EQ(weight[0], static_cast<float>(i));
    seen.insert(y);
  }
  EXPECT_GT(seen.size(), 10u);
  // Resizing averages x and picks classes of y; a shape may change repeatedly.
  const Transformed small(
      source, pipeline({"resize(size=2)", "one_hot(classes=16)", "select_channels(channels=1)", "resize(size=4)",
                        "select_channels(channels=5, field=y)", "scale(by=2, field=weight)"}));
  EXPECT_EQ(small.fields()[0].shape, (Shape{4, 4, 1}));
  EXPECT_EQ(small.fields()[1].shape, (Shape{4, 4, 1}));
  const auto sample = read_sample(small, 3);
  EXPECT_EQ(sample[1], (std::vector<float>{1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));  // of class 5 at (0, 0)
  EXPECT_NEAR(sample[0][0],
              (0 + 1 + 4 + 5) * 0.75 * 0.75 / 1.75 / 1.75 + (2 + 6 + 8 + 9) * 0.75 * 0.25 / 1.75 / 1.75 +
                  10 * 0.0625 / 1.75 / 1.75,
              1e-5);
  EXPECT_EQ(sample[2][0], 6.0f);
}

TEST(Pipeline, TargetsWithOtherPlacesAreNotMoved) {
  const auto maps = std::make_shared<Ramp>(3, Shape{4, 5});
  EXPECT_HAS(error_of([&] { Transformed(maps, pipeline({"mirror"})); }), "field 'y' is 4x5");
  EXPECT_NO_THROW(Transformed(maps, pipeline({"scale(by=2)"})));
  EXPECT_HAS(error_of([&] { Transformed(maps, pipeline({"scale(by=2, field=z)"})); }), "no field 'z'");
}

TEST(Pipeline, AFieldIsNamedInWhatIsInForce) {
  std::vector<std::string> resolved;
  const std::vector<std::string> specs{"scale(field=y, by=2)", "mirror"};
  const Pipeline list(specs, &resolved);
  EXPECT_EQ(resolved, (std::vector<std::string>{"scale(by=2.0, field=y)", "mirror(axes=[-1])"}));
  const Transformed set(std::make_shared<Ramp>(3), std::make_shared<Pipeline>(specs));
  EXPECT_EQ(read_sample(set, 2)[1][0], 4.0f);
  EXPECT_EQ(read_sample(set, 2)[0][0], 2.0f);
}

TEST(Pipeline, WhatKeepsItsShapeIsReadWhereItBelongs) {
  class Observed final : public datasets::Dataset {
   public:
    std::int64_t size() const override { return 1; }
    std::vector<datasets::Field> fields() const override { return {{"x", Shape{4, 4, 1}}, {"y", Shape{4, 4}}}; }
    void read(std::int64_t, std::span<const std::span<float>> out) const override {
      read_to = {out[0].data(), out[1].data()};
    }
    mutable std::vector<const float*> read_to;
  };
  const auto source = std::make_shared<Observed>();
  std::vector<float> x(16), y(16);
  const std::vector<std::span<float>> out{x, y};
  Transformed(source, pipeline({"scale(by=2)", "mirror", "log1p"})).read(0, out);
  EXPECT_EQ(source->read_to, (std::vector<const float*>{x.data(), y.data()}));
  const Transformed other(source, pipeline({"select_channels(channels=[0, 0])"}));
  std::vector<float> wide(32);
  const std::vector<std::span<float>> wider{wide, y};
  other.read(0, wider);
  EXPECT_NE(source->read_to[0], wide.data());
  EXPECT_EQ(source->read_to[1], y.data());
}

TEST(Pipeline, SamplesWithoutLabels) {
  class Alone final : public datasets::Dataset {
   public:
    std::int64_t size() const override { return 2; }
    std::vector<datasets::Field> fields() const override { return {{"x", Shape{2, 2, 2}}}; }
    std::vector<std::string> channels() const override { return {"U", "V"}; }
    void read(std::int64_t index, std::span<const std::span<float>> out) const override {
      std::ranges::fill(out[0], static_cast<float>(index));
    }
  };
  const auto source = std::make_shared<Alone>();
  const Transformed set(source, pipeline({"crop(size=1)", "swap_channels"}));
  EXPECT_EQ(read_sample(set, 1), (std::vector<std::vector<float>>{{1, 1}}));
  EXPECT_EQ(set.channels(), (std::vector<std::string>{"V", "U"}));
  EXPECT_HAS(error_of([&] { Transformed(source, pipeline({"one_hot(classes=2)"})); }), "no field 'y'");
}

TEST(Pipeline, OnePipelineMayReadThroughAnother) {
  const auto inner =
      std::make_shared<Transformed>(std::make_shared<Ramp>(3), pipeline({"crop(size=3)", "scale(by=2)"}));
  const Transformed outer(inner, pipeline({"crop(size=2)", "scale(by=10)", "crop(size=1)"}));
  EXPECT_EQ(read_sample(outer, 1)[0], (std::vector<float>{20}));
}

TEST(Pipeline, VariesWithEpochAndSampleAndNothingElse) {
  const Ramp source(64);
  const Transformed set(std::make_shared<Ramp>(64), pipeline({"crop(size=2)", "mirror"}));
  const auto corners = [&](int threads, std::int64_t first_epoch, std::int64_t first_step, bool training) {
    feeding::Loader loader(set, {.count = 64, .batch = 8, .seed = 3},
                           {.threads = threads, .epoch = first_epoch, .step = first_step, .training = training});
    std::vector<std::vector<float>> seen;
    while (loader.epoch() < 3)
      if (const feeding::Batch* batch = loader.next())
        for (std::int64_t row = 0; row < 8; ++row) {
          const auto x = batch->fields[0].row(row);
          seen.emplace_back(x.begin(), x.end());
        }
    return seen;
  };
  const auto all = corners(1, 0, 0, true);
  EXPECT_EQ(corners(4, 0, 0, true), all);
  const std::vector<std::vector<float>> rest(all.begin() + 8 * 11, all.end());
  EXPECT_EQ(corners(3, 1, 3, true), rest);  // resumed in the middle of the second epoch
  EXPECT_NE(corners(1, 0, 0, false), all);

  const auto read = [&](std::uint64_t seed, std::int64_t epoch, std::int64_t index) {
    std::vector<float> x(4), y(1);
    const std::vector<std::span<float>> out{x, y};
    set.read_varied({seed, epoch, true}, index, out);
    for (float& value : x) value -= static_cast<float>(index);
    return x;
  };
  int by_seed = 0, by_epoch = 0, by_sample = 0;
  for (std::int64_t i = 0; i < 20; ++i) {
    by_seed += read(1, 0, i) != read(2, 0, i);
    by_epoch += read(1, 0, i) != read(1, 1, i);
    by_sample += read(1, 0, i) != read(1, 0, i + 20);
  }
  for (const int differing : {by_seed, by_epoch, by_sample}) EXPECT_GT(differing, 10);
}

}  // namespace
}  // namespace isobar::transforms
