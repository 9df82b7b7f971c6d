#include "isobar/train/agreement.hpp"

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"

#include "tests/expect_error.hpp"

namespace isobar::train {
namespace {

TEST(Agreement, SumsOverAnyNumberOfRanks) {
  for (int ranks = 1; ranks <= 9; ++ranks)
    comm::run_ranks(ranks, [&](comm::Comm& comm) {
      std::int64_t numbers[] = {comm.rank() + 1, std::int64_t{1} << 40};
      for (int i = 0; i < 2; ++i) sum_over_ranks(comm, numbers);  // twice: nothing is left over from the first
      const std::int64_t sum = ranks * (ranks + 1) / 2;
      EXPECT_EQ(numbers[0], sum * ranks);
      EXPECT_EQ(numbers[1], (std::int64_t{1} << 40) * ranks * ranks);
    });
}

TEST(Agreement, CollectsInTheOrderOfRanksWhateverTheLengths) {
  comm::run_ranks(4, [](comm::Comm& comm) {
    const std::string mine(static_cast<std::size_t>(3 - comm.rank()), static_cast<char>('a' + comm.rank()));
    std::string all;
    std::vector<int> from;
    collect(comm, std::as_bytes(std::span(mine)), [&](int rank, std::span<const std::byte> theirs) {
      from.push_back(rank);
      all.append(reinterpret_cast<const char*>(theirs.data()), theirs.size());
    });
    EXPECT_EQ(all, comm.rank() == 0 ? "aaabbc" : "");
    EXPECT_EQ(from.size(), comm.rank() == 0 ? 4u : 0u);
  });
}

TEST(Agreement, SharesNumbersAndObjectsOfTheFirst) {
  comm::run_ranks(3, [](comm::Comm& comm) {
    std::vector<float> numbers(1000, static_cast<float>(comm.rank()) + 0.5f);
    share_numbers(comm, numbers);
    EXPECT_EQ(numbers, std::vector<float>(1000, 0.5f));
    std::pair<int, double> object{comm.rank() + 7, comm.rank() * 2.0};
    share_object(comm, object.first);
    EXPECT_EQ(object.first, 7);
  });
}

std::string difference(const std::vector<Fact>& first, const std::vector<Fact>& second) {
  return tests::error_of(
      [&] { comm::run_ranks(3, [&](comm::Comm& comm) { expect_same(comm, comm.rank() == 1 ? second : first); }); });
}

TEST(Agreement, NamesTheFirstFactThatDiffersAndBothValues) {
  comm::run_ranks(3, [](comm::Comm& comm) { expect_same(comm, std::vector<Fact>{{"a", "1"}, {"b", ""}}); });
  EXPECT_HAS(difference({{"a", "1"}, {"b", "2"}, {"c", "3"}}, {{"a", "1"}, {"b", "4"}, {"c", "5"}}),
             "[rank 1] b is 4 here and 2 on rank 0");
  EXPECT_HAS(difference({{"a", "1"}}, {{"a", "1"}, {"b", "2"}}), "[rank 1] b is 2 here; rank 0 has no such thing");
  EXPECT_HAS(difference({{"a", "1"}, {"b", "2"}}, {{"a", "1"}}), "[rank 1] rank 0 has b, 2, and this rank has not");
  EXPECT_HAS(difference({{"a", "1"}}, {{"b", "1"}}), "[rank 1] b is 1 here; rank 0 has there a");
}

}  // namespace
}  // namespace isobar::train
