#include "isobar/report/processor_family.hpp"

#include <gtest/gtest.h>

namespace isobar::report {
namespace {

int year(const char* name, const char* numbers = "") {
  const auto family = processor_family(name, numbers);
  return family ? family->year : 0;
}

TEST(ProcessorFamily, ByName) {
  EXPECT_EQ(year("Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz"), 2021);
  EXPECT_EQ(year("Intel(R) Xeon(R) Gold 6330H CPU @ 2.00GHz"), 2020);
  EXPECT_EQ(year("Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz"), 2017);
  EXPECT_EQ(year("Intel(R) Xeon(R) Platinum 8488C"), 2023);
  EXPECT_EQ(year("Intel(R) Xeon(R) CPU E5-2690 v4 @ 2.60GHz"), 2016);
  EXPECT_EQ(year("Intel(R) Xeon(R) CPU E5-2690 0 @ 2.90GHz"), 2012);
  EXPECT_EQ(year("Intel(R) Xeon Phi(TM) CPU 7250 @ 1.40GHz"), 2016);
  EXPECT_EQ(year("AMD EPYC 7742 64-Core Processor"), 2019);
  EXPECT_EQ(year("AMD EPYC 9654 96-Core Processor"), 2022);
}

TEST(ProcessorFamily, ByNumbersWhereTheNameIsHidden) {
  EXPECT_EQ(year("Intel(R) Xeon(R) Processor @ 2.80GHz", "family 6 model 106 stepping 6"), 2021);
  EXPECT_EQ(year("Intel(R) Xeon(R) Processor", "family 6 model 85 stepping 4"), 2017);
  EXPECT_EQ(year("Intel(R) Xeon(R) Processor", "family 6 model 85 stepping 7"), 2019);
  EXPECT_EQ(year("AMD EPYC Processor", "family 25 model 17 stepping 1"), 2022);
}

TEST(ProcessorFamily, UnknownStaysUnknown) {
  EXPECT_EQ(year(""), 0);
  EXPECT_EQ(year("Made Processor <at> 2.8 GHz"), 0);
  EXPECT_EQ(year("Intel(R) Xeon(R) Processor @ 2.80GHz"), 0);
  EXPECT_EQ(year("Intel(R) Xeon(R) Processor @ 2.80GHz", "family 6 model"), 0);
  EXPECT_EQ(year("Some", "family 99 model 1 stepping 1"), 0);
}

}  // namespace
}  // namespace isobar::report
