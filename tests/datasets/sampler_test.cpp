#include "isobar/datasets/sampler.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "tests/datasets/samples.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

std::vector<std::int64_t> order(const Sampler& sampler, std::int64_t epoch) {
  std::vector<std::int64_t> list;
  for (std::int64_t p = 0; p < sampler.count; ++p) list.push_back(sampler.sample(epoch, p));
  return list;
}

std::vector<std::int64_t> first_numbers(std::int64_t count) {
  std::vector<std::int64_t> list(static_cast<std::size_t>(count));
  std::iota(list.begin(), list.end(), 0);
  return list;
}

TEST(Sampler, EveryEpochIsAPermutation) {
  for (const std::int64_t count : {1, 2, 3, 4, 5, 16, 17, 63, 64, 65, 1000}) {
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
      auto list = order({.count = count}, epoch);
      std::ranges::sort(list);
      EXPECT_EQ(list, first_numbers(count));
    }
  }
}

TEST(Sampler, OrderDependsOnSeedAndEpochOnly) {
  const Sampler a{.count = 100, .batch = 7, .seed = 1}, b{.count = 100, .batch = 10, .seed = 1};
  EXPECT_EQ(order(a, 3), order(b, 3));
  EXPECT_NE(order(a, 3), order(a, 4));
  EXPECT_NE(order(a, 3), order({.count = 100, .batch = 7, .seed = 2}, 3));
  EXPECT_EQ(order({.count = 100, .shuffle = false}, 3), first_numbers(100));
}

// Batches put together from the slices of all ranks are the same for every number of ranks: no loss, no duplicates.
TEST(Sampler, RanksShareTheSameGlobalBatches) {
  for (const std::int64_t count : {1, 7, 40, 41, 64}) {
    for (const std::int64_t batch : {1, 5, 8, 64}) {
      for (const bool drop_last : {false, true}) {
        const Sampler sampler{.count = count, .batch = batch, .drop_last = drop_last};
        for (const int size : {1, 2, 3, 5, 16}) {
          std::vector<std::int64_t> all;
          for (std::int64_t b = 0; b < sampler.batches(); ++b) {
            for (int rank = 0; rank < size; ++rank) {
              const auto mine = sampler.samples(2, b, rank, size);
              EXPECT_LE(static_cast<std::int64_t>(mine.size()), sampler.rows(size));
              all.insert(all.end(), mine.begin(), mine.end());
            }
          }
          auto wanted = order(sampler, 2);
          if (drop_last) wanted.resize(static_cast<std::size_t>(count / batch * batch));
          EXPECT_EQ(all, wanted) << count << " samples, batch " << batch << ", " << size << " ranks";
        }
      }
    }
  }
}

TEST(Sampler, SlicesDifferByOneRowAtMost) {
  const Sampler sampler{.count = 64, .batch = 13};
  for (std::int64_t b = 0; b < sampler.batches(); ++b) {
    std::int64_t least = 99, most = 0;
    for (int rank = 0; rank < 4; ++rank) {
      const auto [first, last] = sampler.slice(b, rank, 4);
      least = std::min(least, last - first);
      most = std::max(most, last - first);
    }
    EXPECT_LE(most - least, 1);
  }
}

TEST(Sampler, FullSlicesAreTheSameOnAnyNumberOfRanks) {
  const auto slices = [](int size) {
    const Sampler sampler{.count = 45, .batch = 4 * size, .full_slices = true};
    std::vector<std::vector<std::int64_t>> all;
    for (std::int64_t b = 0; b < sampler.batches(); ++b)
      for (int rank = 0; rank < size; ++rank)
        if (auto mine = sampler.samples(1, b, rank, size); !mine.empty()) all.push_back(std::move(mine));
    return all;
  };
  EXPECT_EQ(slices(1).size(), 12u);
  for (const int size : {2, 3, 4, 7}) EXPECT_EQ(slices(size), slices(1)) << size << " ranks";
}

// All 24 orders of four samples, and all pairs (position, sample) of 12, are about equally frequent.
TEST(Sampler, OrdersAreEven) {
  const int epochs = 12'000;
  std::map<std::vector<std::int64_t>, int> orders;
  std::array<std::array<int, 12>, 12> pairs{};
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    ++orders[order({.count = 4}, epoch)];
    for (std::int64_t p = 0; p < 12; ++p)
      ++pairs[static_cast<std::size_t>(p)][static_cast<std::size_t>(Sampler{.count = 12}.sample(epoch, p))];
  }
  EXPECT_EQ(orders.size(), 24u);
  const auto far = [&](int n, double p) { return std::abs(n - epochs * p) / std::sqrt(epochs * p * (1 - p)); };
  for (const auto& [which, n] : orders) EXPECT_LT(far(n, 1.0 / 24), 5);
  for (const auto& row : pairs)
    for (const int n : row) EXPECT_LT(far(n, 1.0 / 12), 5);
}

TEST(Sampler, AnEpochCanBeCutShort) {
  Sampler sampler{.count = 23, .batch = 4, .drop_last = true};
  EXPECT_EQ(sampler.batches(), 5);
  sampler.most_batches = 3;
  EXPECT_EQ(sampler.batches(), 3);
  sampler.most_batches = 9;
  EXPECT_EQ(sampler.batches(), 5);
}

TEST(Sampler, NoBatchAtAllIsAnError) {
  EXPECT_HAS(error_of([] { Sampler{.count = 0}.check(); }), "0 samples");
  EXPECT_HAS(error_of([] { Sampler{.count = 3, .batch = 0}.check(); }), "batch = 0");
  EXPECT_HAS(error_of([] { Sampler{.count = 3, .batch = 4, .drop_last = true}.check(); }), "no full batch of 4");
  Sampler{.count = 3, .batch = 4}.check();
}

}  // namespace
}  // namespace isobar::datasets
