// A session's batches as the network takes them, on one rank and on several.
#include "isobar/train/session.hpp"

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"
#include "isobar/train/joint_norm.hpp"

#include "tests/train/small_job.hpp"

namespace isobar::train {
namespace {

TEST(Session, FeedsAreTheMicroBatchesOfAllBatches) {
  const TemporaryFolder folder;
  const auto world = comm::alone();
  StepTrace trace;
  Session session(small_job(folder.path() / "run", {"data.batch=6", "train.micro_batches=2"}), *world, *world, trace,
                  false);
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
  Session session(std::move(job), *world, *world, trace, false);
  EXPECT_EQ(session.network().tests, nullptr);
  EXPECT_TRUE(session.evaluate(nullptr).results.empty());
}

TEST(JointNorm, SumsOverAllRanksAndIsTraced) {
  for (const int ranks : {2, 3})
    comm::run_ranks(ranks, [&](comm::Comm& world) {
      StepTrace trace;
      trace.begin_step(4, 0, true);
      JointNorm norm(world, trace);
      std::vector<float> numbers{1, static_cast<float>(world.rank())};
      (*norm.sum_in(4))(numbers);
      EXPECT_EQ(numbers[0], static_cast<float>(ranks));
      EXPECT_EQ(numbers[1], static_cast<float>(ranks * (ranks - 1) / 2));
      ASSERT_EQ(trace.main().events().size(), 1u);
      EXPECT_EQ(trace.main().events()[0].step, 4);
    });
}

}  // namespace
}  // namespace isobar::train
