// A session's batches as the network takes them, on one rank and on several.
#include "isobar/train/session.hpp"

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"

#include "tests/train/small_job.hpp"

namespace isobar::train {
namespace {

TEST(Session, FeedsAreTheMicroBatchesOfAllBatches) {
  const TemporaryFolder folder;
  const auto world = comm::alone();
  StepTrace trace;
  Job job = small_job(folder.path() / "run", {"data.batch=6", "train.micro_batches=2"});
  const RunGroups groups(*world, *job.split, *job.strategy);
  Session session(std::move(job), groups, trace, false);
  EXPECT_EQ(session.batching().rows, 3);
  EXPECT_EQ(session.batches_per_epoch(), 3);
  const auto loader = session.load_from({});
  const Session::Batches batches{loader->next()};
  optim::Step step{7, 0.1};
  const auto feeds = session.feeds_of(batches, 1, step, 6);
  ASSERT_EQ(feeds.size(), 2u);
  for (const parallel::Feed& feed : feeds) {
    EXPECT_EQ(feed.run.step, 7);
    EXPECT_EQ(feed.run.rows, 3);
    EXPECT_EQ(feed.run.total, 6);
    EXPECT_EQ(feed.inputs.size(), 2u);
  }
  EXPECT_EQ(feeds[1].run.samples[0], batches[0]->samples[3]);
}

TEST(Session, WithoutATestSetNothingIsEvaluated) {
  const TemporaryFolder folder;
  const auto world = comm::alone();
  StepTrace trace;
  Job job = small_job(folder.path() / "run");
  job.test_data = job.test_source = nullptr;
  const RunGroups groups(*world, *job.split, *job.strategy);
  Session session(std::move(job), groups, trace, false);
  EXPECT_EQ(session.network().tests, nullptr);
  EXPECT_TRUE(session.evaluate(nullptr).results.empty());
}

// Each rank has half of every batch, and none that the others do not run with.
TEST(Session, BatchNormOfAllRanksTalksInTheTeam) {
  const TemporaryFolder folder;
  comm::run_ranks(2, [&](comm::Comm& world) {
    StepTrace trace;
    Job job = small_job(folder.path() / "run",
                        {"data.batch=6", "model=dense_net(norm=true, dropout=0)", "train.sync_batch_norm=true"});
    const RunGroups groups(world, *job.split, *job.strategy);
    Session session(std::move(job), groups, trace, false);
    EXPECT_EQ(session.plan().circles(), std::vector<std::string>{"team"});
    EXPECT_EQ(session.network().replica->circles(), std::vector<std::string>{"team"});
    EXPECT_TRUE(session.network().replica->computes({{}, {.rows = 0}}));
    ASSERT_NE(session.network().tests, nullptr);
    EXPECT_TRUE(session.network().tests->plan().circles().empty());
  });
}

TEST(Session, BatchNormOfOneRankTalksToNobody) {
  const TemporaryFolder folder;
  const auto world = comm::alone();
  StepTrace trace;
  Job job = small_job(folder.path() / "run", {"model=dense_net(norm=true)", "train.sync_batch_norm=true"});
  const RunGroups groups(*world, *job.split, *job.strategy);
  Session session(std::move(job), groups, trace, false);
  EXPECT_TRUE(session.plan().circles().empty());
  EXPECT_FALSE(session.network().replica->computes({{}, {.rows = 0}}));
}

}  // namespace
}  // namespace isobar::train
