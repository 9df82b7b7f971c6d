#include "isobar/report/figures.hpp"

#include <gtest/gtest.h>

namespace isobar::report {
namespace {

TEST(Figures, AColumnHasTheUnitOfItsLargestNumber) {
  const Unit time = seconds_unit(0.0204);
  EXPECT_EQ(time.name, "ms");
  EXPECT_EQ(time.text(0.0204), "20.40");
  EXPECT_EQ(time.text(0.0002), "0.20");
  EXPECT_EQ(time.text_or_blank(0), "");
  EXPECT_EQ(seconds_unit(25).text(25), "25.00");
  EXPECT_EQ(seconds_unit(2).text(2), "2000");
  EXPECT_EQ(flops_unit(2.5e12).name, "TF");
  EXPECT_EQ(flops_unit(2.5e12).text(2.5e11), "0.250");
  EXPECT_EQ(flops_unit(10).name, "MF");
  EXPECT_EQ(bytes_unit(1.234e8).text(1.234e8), "123.4");
  EXPECT_EQ(bytes_unit(0).name, "kB");
}

TEST(Figures, AShareOfNothingIsNotShown) {
  EXPECT_EQ(percent(1, 8), "12.5 %");
  EXPECT_EQ(percent(1, 0), "");
}

}  // namespace
}  // namespace isobar::report
