// The steps of an exchange: in one order only, and as if they had never been when an exception ends them.
#include "isobar/parallel/exchange.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"

#include "tests/parallel/plain_replica.hpp"

namespace isobar::parallel::trials {
namespace {

class ExchangeSteps : public testing::Test {
 protected:
  ExchangeSteps() : exchange_({}, {}, *world_, 48) {
    const std::span<float> gradients = exchange_.gradients();
    replica_.emplace(std::vector<DeclaredPlainly>{{16}, {16}, {5, false}}, gradients);
    feed_.run.rows = 3;
  }

  StepExchange begin() { return exchange_.begin(*replica_, {&feed_, 1}, 1); }
  double samples() { return numbers_of(exchange_.state(), exec::StateBlock::Scope::each_rank).at(0); }

  std::unique_ptr<comm::Comm> world_ = comm::alone();
  Exchange exchange_;
  std::optional<PlainReplica> replica_;
  Feed feed_;
};

TEST_F(ExchangeSteps, AreComputedOnceAndThenSummedUpOnce) {
  {
    StepExchange now = begin();
    EXPECT_ANY_THROW(now.summary());
  }
  {
    StepExchange now = begin();
    now.compute_and_sum();
    EXPECT_ANY_THROW(now.compute([] { return std::size_t{0}; }));
  }
  StepExchange now = begin();
  now.compute([] { return std::size_t{2}; });
  EXPECT_EQ(now.summary().bad, 2);
  EXPECT_ANY_THROW(now.summary());
}

TEST_F(ExchangeSteps, CountTheirSamplesUnlessAnExceptionEndsThem) {
  const auto take_step = [&](bool fails) {
    StepExchange now = begin();
    std::ranges::fill((*replica_)[2].weight, 9.0f);
    if (fails) fail("in the middle of a step");
    now.compute_and_sum();
    now.summary();
  };
  EXPECT_THROW(take_step(true), Error);
  EXPECT_EQ(samples(), 0);
  EXPECT_EQ((*replica_)[2].weight[0], 0.0f);
  take_step(false);
  EXPECT_EQ(samples(), 3);
  EXPECT_EQ((*replica_)[2].weight[0], 9.0f);
}

TEST_F(ExchangeSteps, SumsMayBeUnderWayOrNot) {
  exchange_.wait({}, 0);
  StepExchange now = begin();
  EXPECT_ANY_THROW(now.sum(-1, 0));
  now.compute([] { return std::size_t{0}; });
  const BucketSums sums = now.sum(-1, 0);
  EXPECT_EQ(std::ssize(sums), exchange_.buckets(*replica_).count());
  for (int b = 0; b < exchange_.buckets(*replica_).count(); ++b) exchange_.wait(sums, b);
}

TEST(Chores, AreLookedUpOnce) {
  StepTrace trace;
  PlainReplica replica({{4}}, {}, &trace);
  Chore chore{Category::copy, "copying"};
  for (int i = 0; i < 3; ++i) replica.timed(chore, 1, 8, [] {});
  EXPECT_GE(chore.in_trace, 0);
  EXPECT_EQ(trace.main().names()[trace.main().events().back().name], "copying");
  EXPECT_EQ(trace.main().total(Category::copy).events, 3);
  EXPECT_EQ(trace.main().total(Category::copy).bytes, 24);
}

}  // namespace
}  // namespace isobar::parallel::trials
