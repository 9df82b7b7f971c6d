#include "isobar/train/agreement.hpp"

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"

#include "tests/expect_error.hpp"

namespace isobar::train {
namespace {

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
  EXPECT_HAS(difference({{"a", "1"}}, {{"b", "1"}}), "[rank 1] b is 1 here; rank 0 instead has a");
}

}  // namespace
}  // namespace isobar::train
