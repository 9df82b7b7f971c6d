// Numbers of every type, by themselves and moved by every algorithm.
#include "isobar/comm/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"
#include "isobar/comm/walk.hpp"

#include "tests/comm/added_codecs.hpp"

namespace isobar::comm {
namespace {

template <class T>
std::vector<T> combined(std::vector<T> mine, std::vector<T> theirs, Combine combine) {
  Numbers(mine, combine).combine(std::as_bytes(std::span(theirs)), {0, theirs.size()});
  return mine;
}

TEST(Numbers, AreAddedAsTheirTypeHasIt) {
  using Whole = std::vector<std::int64_t>;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(combined(Whole{1, -5, most}, Whole{2, most, 0}, Combine::sum), (Whole{3, most - 5, most}));
  EXPECT_EQ(combined(Whole{1, -5}, Whole{2, -7}, Combine::largest), (Whole{2, -5}));
  EXPECT_EQ(combined(std::vector<double>{1}, {0x1p-50}, Combine::sum), std::vector<double>{1 + 0x1p-50});
  const double nan = std::nan("");
  for (const auto& [a, b] : {std::pair(nan, 1.0), std::pair(1.0, nan)})
    EXPECT_TRUE(std::isnan(combined(std::vector<double>{a}, {b}, Combine::largest)[0]));
}

TEST(Numbers, Of16BitsAreRoundedAfterEveryAddition) {
  std::vector<BFloat16> small{BFloat16(1.0f)}, step{BFloat16(0x1p-9f)};
  std::vector<Float16> half{Float16(1.0f)}, other{Float16(0x1p-9f)};
  const Numbers numbers(small), halves(half);
  EXPECT_EQ(numbers.number_bytes(), 2u);
  numbers.combine(std::as_bytes(std::span(step)), {0, 1});
  halves.combine(std::as_bytes(std::span(other)), {0, 1});
  EXPECT_EQ(small[0], 1.0f);
  EXPECT_EQ(half[0], 1 + 0x1p-9f);
}

TEST(Numbers, TravelAsTheCodecHasThem) {
  std::vector<float> list{1 + 0x1p-9f, 2, 3};
  const Numbers numbers(list, codec_named("bf16"));
  EXPECT_FALSE(numbers.is_plain());
  EXPECT_EQ(numbers.bound(3), 6u);
  std::vector<std::byte> sent(2);
  numbers.encode({0, 1}, sent);
  EXPECT_EQ(list[0], 1.0f);
  numbers.combine(sent, {1, 1});
  numbers.decode(sent, {2, 1});
  EXPECT_EQ(list, (std::vector<float>{1, 3, 1}));
  list[1] = 1 + 0x1p-9f;
  numbers.round({1, 1});
  EXPECT_EQ(list[1], 1.0f);
  EXPECT_TRUE(Numbers(list).is_plain());
}

TEST(Numbers, BytesAreOnlyMoved) {
  std::vector<std::byte> bytes(3, std::byte{1}), theirs(2, std::byte{7});
  const Numbers numbers(bytes);
  numbers.decode(theirs, {1, 2});
  EXPECT_EQ(bytes, (std::vector<std::byte>{std::byte{1}, std::byte{7}, std::byte{7}}));
  EXPECT_THROW(numbers.combine(theirs, {0, 2}), std::logic_error);
  const auto topk = make(codec::codecs(), "topk", "codec");
  std::vector<float> floats(3);
  EXPECT_THROW(Numbers(floats, *topk), std::logic_error);
}

// Enough for several messages of each type.
template <class T>
void every_algorithm_sums(int ranks) {
  const std::size_t count = 2 * Walk::piece + 11;
  run_ranks(ranks, [&](Comm& comm) {
    for (const std::string& name : names(all_reduces())) {
      if (name == "reproducible" && ranks == 3) continue;
      std::vector<T> list(count);
      for (std::size_t i = 0; i < count; ++i)
        list[i] = static_cast<T>(static_cast<float>(i % 13 + static_cast<std::size_t>(comm.rank())));
      run(comm, make(all_reduces(), Spec(name), "algorithm")->schedule(comm.group(), count), {list});
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(static_cast<float>(list[i]), static_cast<float>(static_cast<std::size_t>(ranks) * (i % 13) +
                                                                  static_cast<std::size_t>(ranks * (ranks - 1) / 2)))
            << name;
    }
  });
}

TEST(Numbers, EveryAlgorithmSumsEveryType) {
  for (const int ranks : {1, 2, 3, 4}) {
    every_algorithm_sums<std::int64_t>(ranks);
    every_algorithm_sums<double>(ranks);
    every_algorithm_sums<BFloat16>(ranks);
    every_algorithm_sums<Float16>(ranks);
  }
}

TEST(Numbers, TheLargestOfAllRanks) {
  run_ranks(5, [](Comm& comm) {
    for (const char* name : {"recursive_doubling", "ring", "tree"}) {
      std::vector<std::int64_t> list(100);
      for (std::size_t i = 0; i < 100; ++i) list[i] = (static_cast<std::int64_t>(i) + 3 * comm.rank()) % 5 - 9;
      run(comm, make(all_reduces(), Spec(name), "algorithm")->schedule(comm.group(), 100), {list, Combine::largest});
      EXPECT_EQ(list, std::vector<std::int64_t>(100, -5)) << name;
    }
  });
}

// A message of bytes is as long as one of floats.
TEST(Numbers, EveryAlgorithmMovesBytes) {
  const std::size_t count = 3 * Walk::piece * sizeof(float) + 5;
  run_ranks(3, [&](Comm& comm) {
    for (const std::string& name : names(broadcasts())) {
      std::vector<std::byte> bytes(count, std::byte(comm.rank()));
      bytes[count / 2] = std::byte(9 + comm.rank());
      const std::int64_t before = comm.traffic().messages;
      run(comm, make(broadcasts(), Spec(name), "algorithm")->schedule(comm.group(), count), {bytes});
      EXPECT_EQ(bytes[count / 2], std::byte(9)) << name;
      EXPECT_EQ(std::ranges::count(bytes, std::byte(0)), static_cast<std::ptrdiff_t>(count - 1)) << name;
      if (name == "tree" && comm.rank() == 0) {
        EXPECT_EQ(comm.traffic().messages - before, 2 * 4);
      }
    }
    for (const std::string& name : names(all_gathers())) {
      std::vector<std::byte> bytes(100);
      const Range own = block(100, 3, comm.rank());
      for (std::size_t i = own.begin; i < own.end(); ++i) bytes[i] = std::byte(i);
      run(comm, make(all_gathers(), Spec(name), "algorithm")->schedule(comm.group(), 100), {bytes});
      for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(bytes[i], std::byte(i)) << name;
    }
  });
}

}  // namespace
}  // namespace isobar::comm
