#include "isobar/pictures/series.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace isobar::pictures {
namespace {

TEST(Series, OfTheEndOfARun) {
  const float predictions[] = {1, 2, 3, 4}, targets[] = {5, 6, 7, 8};
  train::End end;
  end.target_names = {"a"};
  end.target_shape = Shape{2};
  end.predictions = predictions;
  end.targets = targets;
  const std::vector<Series> all = series_of(end);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "a");
  EXPECT_EQ(all[1].name, "y1");
  EXPECT_EQ(all[1].truth, (std::vector<double>{6, 8}));
  EXPECT_EQ(all[1].predicted, (std::vector<double>{2, 4}));
  EXPECT_TRUE(series_of({}).empty());
}

TEST(Series, CoefficientOfDetermination) {
  EXPECT_EQ(r2({"x", {-1, 0.5}, {-1, 0.5}}), 1);
  EXPECT_DOUBLE_EQ(r2({"x", {0, 2}, {1, 1}}), 0);   // the mean
  EXPECT_DOUBLE_EQ(r2({"x", {0, 2}, {2, 0}}), -3);  // worse
  EXPECT_TRUE(std::isnan(r2({"x", {1, 1}, {1, 2}})));
  EXPECT_TRUE(std::isnan(r2({"x"})));
}

}  // namespace
}  // namespace isobar::pictures
