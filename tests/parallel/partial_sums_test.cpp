#include "isobar/parallel/partial_sums.hpp"

#include <gtest/gtest.h>

#include "isobar/base/random.hpp"

namespace isobar::parallel {
namespace {

constexpr std::size_t partial_sums_numbers = 20'000;  // more than one chunk of a sweep

std::vector<float> item(std::size_t i) {
  std::vector<float> values(partial_sums_numbers);
  for (std::size_t n = 0; n < partial_sums_numbers; ++n) values[n] = static_cast<float>(Random(i).uniform(n) - 0.5);
  return values;
}

std::vector<float> plus(std::vector<float> a, const std::vector<float>& b) {
  for (std::size_t n = 0; n < a.size(); ++n) a[n] += b[n];
  return a;
}

// The parts of an item in an order of their own.
std::vector<float> sum(PartialSums& sums, std::size_t items) {
  std::vector<float> values;
  for (std::size_t i = 0; i < items; ++i) {
    values = item(i);
    const std::size_t cut = 1000 + i;
    sums.add(i, i + 1 == items, std::span(values).subspan(cut), cut);
    sums.add(i, i + 1 == items, std::span(values).first(cut), 0);
  }
  return values;
}

std::vector<float> tree(std::size_t first, std::size_t count) {
  return count == 1 ? item(first) : plus(tree(first, count / 2), tree(first + count / 2, count / 2));
}

TEST(PartialSums, RunningAddsInOrderWithOneCopy) {
  PartialSums sums(PartialSums::Order::running, partial_sums_numbers);
  for (int again = 0; again < 2; ++again)
    EXPECT_EQ(sum(sums, 5), plus(plus(plus(plus(item(0), item(1)), item(2)), item(3)), item(4)));
  EXPECT_EQ(sums.bytes(), partial_sums_numbers * sizeof(float));
}

TEST(PartialSums, BalancedAddsNeighboursFirst) {
  for (const std::size_t items : {1, 2, 4, 8, 16}) {
    PartialSums sums(PartialSums::Order::balanced, partial_sums_numbers);
    for (int again = 0; again < 2; ++again) EXPECT_EQ(sum(sums, items), tree(0, items)) << items;
  }
}

TEST(PartialSums, ASingleItemTakesNoMemory) {
  for (const auto order : {PartialSums::Order::running, PartialSums::Order::balanced}) {
    PartialSums sums(order, partial_sums_numbers);
    EXPECT_EQ(sum(sums, 1), item(0));
    EXPECT_EQ(sums.bytes(), 0u);
  }
}

TEST(PartialSums, BalancedNeedsAPowerOfTwo) {
  PartialSums sums(PartialSums::Order::balanced, partial_sums_numbers);
  EXPECT_THROW(sum(sums, 3), std::logic_error);
}

}  // namespace
}  // namespace isobar::parallel
