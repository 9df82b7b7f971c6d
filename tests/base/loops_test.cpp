#include "isobar/base/loops.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace isobar {
namespace {

constexpr std::size_t part_length = loop_part;

TEST(Loops, TouchEveryElementOnce) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, part_length - 1, part_length, part_length + 1,
                                  2 * part_length, 3 * part_length + 5}) {
    std::vector<int> touched(count);
    in_parts(count, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++touched[i];
    });
    EXPECT_EQ(std::count(touched.begin(), touched.end(), 1), static_cast<std::ptrdiff_t>(count));
  }
}

TEST(Loops, PartsBeginAtMultiplesOfTheirLength) {
  for (const std::int64_t length : {loop_part, std::int64_t{7}}) {
    const auto part = [&](std::int64_t begin, std::int64_t end) {
      EXPECT_EQ(begin % length, 0);
      EXPECT_LE(end - begin, length);
    };
    in_parts(3 * loop_part + 5, part, length);
  }
}

TEST(Loops, SumsAreAddedInOrderOfTheParts) {
  // 1e16 + 1 is 1e16: another order would give another sum.
  const std::vector<double> numbers = {1e16, 1, 1, -1e16, 1, 1};
  double wanted = 0;
  for (const double number : numbers) wanted += number;
  const auto part = [&](std::size_t begin, std::size_t) { return numbers[begin]; };
  EXPECT_EQ(ordered_sum(numbers.size(), part, 1), wanted);
  EXPECT_EQ(ordered_sum(std::size_t{0}, part), 0);
}

}  // namespace
}  // namespace isobar
