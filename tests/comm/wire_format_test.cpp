#include "isobar/comm/wire_format.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace isobar::comm {
namespace {

TEST(Wire, TheSendersCopyBecomesWhatTheReceiverReads) {
  for (const Wire wire : {Wire::float32, Wire::bfloat16, Wire::float16}) {
    std::vector<float> numbers;  // a length that is not a multiple of a vector's
    for (int i = 0; i < 1237; ++i) numbers.push_back(std::sin(static_cast<float>(i)) * 100);
    std::vector<float> rounded = numbers, read(numbers.size()), sum(numbers.size(), 0.5f);
    const std::vector<float> before = numbers;
    std::vector<std::byte> bytes(numbers.size() * bytes_of(wire));
    pack(wire, numbers, bytes.data());
    unpack(wire, bytes.data(), read);
    unpack_add(wire, bytes.data(), sum);
    round_to(wire, rounded);
    EXPECT_EQ(numbers, read);
    EXPECT_EQ(rounded, read);
    EXPECT_EQ(numbers == before, wire == Wire::float32);
    for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(sum[i], 0.5f + read[i]);
  }
}

}  // namespace
}  // namespace isobar::comm
