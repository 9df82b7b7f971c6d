#include "isobar/base/wide_philox.hpp"

#include <array>

#include <gtest/gtest.h>

#include "isobar/base/random.hpp"

namespace isobar {
namespace {

TEST(WidePhilox, HasTheBitsOfThePlainOne) {
  const Random random(17, 3);
  // The last one begins beyond the counter's lower half.
  for (const std::uint64_t first :
       {std::uint64_t{0}, std::uint64_t{12345}, std::uint64_t{0xFFFFFFF8}, std::uint64_t{1} << 33})
    for (const std::uint32_t limit : {0u, 1u, 0x40000000u, 0x80000000u, 0xFFFFFFFFu}) {
      std::array<std::uint8_t, philox_wide + 1> result;
      result.fill(7);
      wide_at_least(mix(17, 3), first, limit, result.data());
      for (std::size_t i = 0; i < philox_wide; ++i)
        ASSERT_EQ(result[i], random.block(first + i / 4)[i % 4] >= limit) << first << " " << limit << " " << i;
      EXPECT_EQ(result.back(), 7);
    }
}

}  // namespace
}  // namespace isobar
