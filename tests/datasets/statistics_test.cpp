#include "isobar/datasets/statistics.hpp"

#include <cmath>

#include "isobar/hdf5/hdf5_file.hpp"

#include "tests/datasets/samples.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

// Numbers far from zero, so that careless sums would lose precision; some are NaN.
class Waves final : public Dataset {
 public:
  Waves(std::int64_t count, Shape shape) : count_(count), shape_(std::move(shape)) {}
  std::int64_t size() const override { return count_; }
  std::vector<Field> fields() const override { return {{"x", shape_}, {"y", Shape{1}}}; }
  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    if (index == broken) fail("sample is broken");
    const auto channels = static_cast<std::size_t>(shape_[-1]);
    for (std::size_t i = 0; i < out[0].size(); ++i) {
      const double phase = 0.37 * static_cast<double>(i) + static_cast<double>(index);
      out[0][i] = static_cast<float>(1e5 * static_cast<double>(i % channels) + 50 * std::sin(phase));
      if (i % 97 == 5) out[0][i] = i % 2 ? NAN : INFINITY;
    }
    out[1][0] = 0;
  }
  std::int64_t broken = -1;

 private:
  std::int64_t count_;
  Shape shape_;
};

// The same by definition, in two passes.
std::vector<ChannelStatistics> by_definition(const Dataset& dataset) {
  const auto channels = static_cast<std::size_t>(dataset.fields()[0].shape[-1]);
  std::vector<std::vector<double>> values(channels);
  std::vector<ChannelStatistics> found(channels);
  for (std::int64_t s = 0; s < dataset.size(); ++s) {
    const auto x = read_sample(dataset, s)[0];
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isfinite(x[i])) values[i % channels].push_back(double{x[i]});
      else ++found[i % channels].skipped;
    }
  }
  for (std::size_t c = 0; c < channels; ++c) {
    found[c].count = static_cast<std::int64_t>(values[c].size());
    for (const double v : values[c]) found[c].mean += v / static_cast<double>(values[c].size());
    for (const double v : values[c]) {
      found[c].squares += (v - found[c].mean) * (v - found[c].mean);
      found[c].low = std::min(found[c].low, v);
      found[c].high = std::max(found[c].high, v);
    }
  }
  return found;
}

TEST(Statistics, AreWhatTheDefinitionSays) {
  for (const Shape& shape : {Shape{7, 5, 3}, Shape{1}, Shape{4}, Shape{10, 9, 70}, Shape{90, 100, 2}, Shape{33, 1}}) {
    SCOPED_TRACE(shape.str());
    const Waves waves(9, shape);
    const auto found = statistics_of(waves, {}), wanted = by_definition(waves);
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t c = 0; c < found.size(); ++c) {
      EXPECT_EQ(found[c].count, wanted[c].count);
      EXPECT_EQ(found[c].skipped, wanted[c].skipped);
      EXPECT_EQ(found[c].low, wanted[c].low);
      EXPECT_EQ(found[c].high, wanted[c].high);
      EXPECT_NEAR(found[c].mean, wanted[c].mean, 1e-9 * (1 + std::abs(wanted[c].mean)));
      EXPECT_NEAR(found[c].squares, wanted[c].squares, 1e-7 * (1 + wanted[c].squares));
    }
  }
}

TEST(Statistics, AreTheSameForAnyNumberOfThreads) {
  const Waves waves(300, Shape{6, 7, 3});
  const auto one = statistics_of(waves, {.threads = 1});
  for (const int threads : {2, 5}) {
    const auto many = statistics_of(waves, {.threads = threads});
    for (std::size_t c = 0; c < one.size(); ++c) {
      EXPECT_EQ(many[c].mean, one[c].mean);
      EXPECT_EQ(many[c].squares, one[c].squares);
    }
  }
  EXPECT_EQ(statistics_of(waves, {.samples = 10})[1].count + statistics_of(waves, {.samples = 10})[1].skipped, 420);
}

TEST(Statistics, ProgressStopAndFailure) {
  Waves waves(50, Shape{3, 2});
  std::int64_t last = 0;
  std::atomic<bool> stop = false;
  statistics_of(waves, {.threads = 3, .progress = [&](std::int64_t done, std::int64_t all) {
                          EXPECT_EQ(done, ++last);
                          EXPECT_EQ(all, 50);
                        }});
  EXPECT_EQ(last, 50);
  stop = true;
  EXPECT_HAS(error_of([&] { statistics_of(waves, {.stop = &stop}); }), "stopped");
  waves.broken = 31;
  EXPECT_HAS(error_of([&] { statistics_of(waves, {.threads = 2}); }), "reading sample 31: sample is broken");
}

TEST(StatisticsFile, IsThatOfDeepCam) {
  const TemporaryFolder folder;
  write_statistics(folder / "stats.h5", {{4, 0, 2, 16, 0, 4}, {4, 0, -1, 36, -6, 2}});
  {
    const hdf5::Hdf5File file = hdf5::Hdf5File::open(folder / "stats.h5");
    for (const char* name : {"mean", "sqmean", "minval", "maxval"})
      EXPECT_EQ(file.shape(std::string("climate/") + name), Shape{2}) << name;
    std::vector<double> squares(2);
    file.read<double>("climate/sqmean", squares);
    EXPECT_EQ(squares, (std::vector<double>{8, 10}));
    EXPECT_EQ(file.shape("climate/count"), Shape{1});
  }
  const auto back = read_statistics(folder / "stats.h5");
  EXPECT_EQ(back[1].mean, -1);
  EXPECT_EQ(back[1].deviation(), 3);
  EXPECT_EQ(back[1].low, -6);
  EXPECT_EQ(back[1].high, 2);
}

TEST(StatisticsFile, ReadsTheBenchmarksAndRefusesOthers) {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& file, const std::string& name, const Shape& shape,
                         std::vector<float> values) {
    hdf5::Hdf5File out = hdf5::Hdf5File::create(folder / file);
    out.write<float>(name, shape, values);
    out.commit(false);
  };
  write("benchmark.h5", "climate/stats", {2, 4}, {2, 4, 0, 1, -1, 2, -6, 3});
  const auto read = read_statistics(folder / "benchmark.h5");
  EXPECT_EQ(read[0].high, 4);
  EXPECT_EQ(read[1].low, -6);
  EXPECT_EQ(read[1].deviation(), 3);
  write("rows.h5", "climate/stats", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_HAS(error_of([&] { read_statistics(folder / "rows.h5"); }), "is 4x2");
  write("other.h5", "data", {2}, {1, 2});
  EXPECT_HAS(error_of([&] { read_statistics(folder / "other.h5"); }), "isobar data stats");
  write("nan.h5", "climate/stats", {1, 4}, {1, NAN, 3, 4});
  EXPECT_HAS(error_of([&] { read_statistics(folder / "nan.h5"); }), "no statistic");
  write("half.h5", "climate/mean", {2}, {1, 2});
  EXPECT_THROW(read_statistics(folder / "half.h5"), Error);
}

}  // namespace
}  // namespace isobar::datasets
