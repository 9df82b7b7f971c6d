#include "isobar/train/metric.hpp"

#include <gtest/gtest.h>

namespace isobar::train {
namespace {

std::map<std::string, double> measure(const char* name, std::vector<float> p, std::vector<float> t,
                                      std::int64_t width) {
  const auto metric = make(metrics(), name, "metric");
  metric->add(std::vector<float>{9, 9}, std::vector<float>{0, 1}, 2);
  metric->reset();  // what came before does not count
  const auto half = static_cast<std::size_t>(width);
  metric->add(std::span(p).first(half), std::span(t).first(half), width);
  metric->add(std::span(p).subspan(half), std::span(t).subspan(half), width);
  const std::vector<std::string> names{"a"};
  return metric->values(names);
}

TEST(Metric, MeanAbsoluteError) { EXPECT_DOUBLE_EQ(measure("mae", {1, 2, 3, 4}, {1, 0, 0, 5}, 2)["mae"], 6.0 / 4); }

TEST(Metric, R2OfEachColumn) {
  const auto values = measure("r2", {1, 5, 2, 5, 3, 5}, {1, 4, 2, 5, 3, 6}, 2);
  EXPECT_DOUBLE_EQ(values.at("r2.a"), 1.0);
  EXPECT_DOUBLE_EQ(values.at("r2.1"), 0.0);  // predicting the mean
}

TEST(Metric, NothingAddedIsNoCrash) {
  for (const auto* row : metrics()) {
    const auto metric = make(metrics(), Spec(std::string(row->name)), "metric");
    metric->reset();
    metric->values({});
  }
}

}  // namespace
}  // namespace isobar::train
