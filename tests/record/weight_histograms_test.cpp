#include "isobar/record/weight_histograms.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "isobar/graph/graph.hpp"
#include "isobar/graph/plan.hpp"

#include "tests/event_reader.hpp"

namespace isobar::record {
namespace {

TEST(WeightHistograms, PartsOfTheRange) {
  std::vector<float> numbers(128);
  std::iota(numbers.begin(), numbers.end(), -64.0f);
  numbers.push_back(64);  // from -64 to 64: parts of 2
  numbers.push_back(NAN);
  numbers.push_back(INFINITY);
  const files::Histogram histogram = histogram_of(numbers);
  EXPECT_EQ(histogram.min, -64);
  EXPECT_EQ(histogram.max, 64);
  EXPECT_EQ(histogram.count, 129);
  EXPECT_EQ(histogram.sum, 0);
  EXPECT_EQ(histogram.sum_of_squares, 2.0 * 64 * 65 * 129 / 6);
  ASSERT_EQ(histogram.counts.size(), 64u);
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(histogram.counts[i], i < 63 ? 2 : 3) << i;
    EXPECT_EQ(histogram.limits[i], -62 + 2 * static_cast<double>(i)) << i;
  }
}

TEST(WeightHistograms, EqualNumbersAndNone) {
  const std::vector<float> same(7, 0.5f);
  const files::Histogram histogram = histogram_of(same);
  EXPECT_EQ(histogram.counts, std::vector<double>{7});
  EXPECT_EQ(histogram.limits, std::vector<double>{0.5});
  EXPECT_EQ(histogram.sum, 3.5);
  EXPECT_EQ(histogram_of({}).count, 0);
  EXPECT_EQ(histogram_of(std::vector<float>{NAN}).count, 0);
  const float largest = std::numeric_limits<float>::max();
  EXPECT_EQ(histogram_of(std::vector<float>{-largest, largest}).counts.back(), 1);
}

// Weights of five channels are padded to whole vectors in the layouts of some kernels.
TEST(WeightHistograms, PaddingIsNotCounted) {
  graph::Graph g;
  graph::ValueId h = g.input("x", {2, 8, 8, 3});
  h = g.add("conv(filters=5, kernel=3)", h, "stem");
  h = g.add("batch_norm", h, "norm");
  h = g.add("conv(filters=7, kernel=3)", h, "second");
  g.output("prediction", h);
  g.loss(g.add("mse", {h, g.input("y", {2, 4, 4, 7})}, "loss"));
  const graph::Plan plan = graph::make_plan(g, {});
  exec::ParamStore store(plan, 0);
  store.initialize(1);
  std::ranges::fill(store.all_gradients(), 1.0f);
  files::EventSummary summary;
  add_weight_histograms(summary, store);
  const auto message = summary.message().message();
  std::map<std::string, double> counts;
  for (const tests::Part& part : tests::parts_of({reinterpret_cast<const char*>(message.data()), message.size()})) {
    const tests::SeenValue value = tests::read_value(part.content());
    counts[value.tag] = value.histogram.value().count;
  }
  EXPECT_EQ(counts.at("weights/stem.w"), 3 * 3 * 3 * 5);
  EXPECT_EQ(counts.at("gradients/stem.w"), 3 * 3 * 3 * 5);
  EXPECT_EQ(counts.at("weights/second.w"), 3 * 3 * 5 * 7);
  for (int p = 0; p < store.count(); ++p) {
    const graph::PlanParameter& parameter = store.parameter(p);
    EXPECT_EQ(counts.at("weights/" + parameter.name), static_cast<double>(parameter.declared.shape.count()));
    EXPECT_EQ(counts.contains("gradients/" + parameter.name), parameter.declared.trained) << parameter.name;
  }
}

}  // namespace
}  // namespace isobar::record
