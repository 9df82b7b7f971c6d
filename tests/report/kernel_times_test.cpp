#include "isobar/report/kernel_times.hpp"

#include <gtest/gtest.h>

namespace isobar::report {
namespace {

TEST(KernelTimes, EventsOfTheMainLaneAreSummedByName) {
  const std::vector<record::TraceEvent> events{{"a conv", "forward convolution", Lane::main, 2, 0, 1, 10, 4},
                                               {"b pool", "forward point-wise", Lane::main, 2, 1, 5, 1, 2},
                                               {"idle", "idle", Lane::main, 2, 6, 50, 0, 0},
                                               {"gradients", "communication", Lane::exchange, 2, 0, 60, 0, 9},
                                               {"a conv", "forward convolution", Lane::main, 7, 90, 3, 10, 4}};
  const std::vector<KernelTime> kernels = kernel_times(events);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "b pool");
  EXPECT_EQ(kernels[1].name, "a conv");
  EXPECT_EQ(kernels[1].category, "forward convolution");
  EXPECT_EQ(kernels[1].calls, 2);
  EXPECT_EQ(kernels[1].seconds, 4);
  EXPECT_EQ(kernels[1].flops, 20);
  EXPECT_EQ(kernels[1].bytes, 8);
  EXPECT_EQ(traced_steps(events), (std::vector<std::int64_t>{2, 7}));
  EXPECT_TRUE(kernel_times({}).empty());
}

}  // namespace
}  // namespace isobar::report
