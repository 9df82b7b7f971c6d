// Contests of readers, at the smallest size: they run, and both sides read the same amount of data.
#include "isobar/bench/reads.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "isobar/bench/made_samples.hpp"

#include "tests/temporary_folder.hpp"

namespace isobar::bench {
namespace {

TEST(MadeSamples, AreAsCompressibleAsScience) {
  double mean = 0;
  int zero = 0;
  for (std::size_t i = 0; i < 10'000; ++i) {
    mean += static_cast<double>(weather(3, i)) / 10'000;
    zero += particles(3, i) == 0;
    EXPECT_EQ(particles(3, i), std::floor(particles(3, i)));
  }
  EXPECT_NEAR(mean, 280, 25);
  EXPECT_GT(zero, 5'000);
  EXPECT_LT(zero, 8'000);
}

TEST(Reads, EveryContestRunsAndIsReported) {
  const tests::TemporaryFolder folder;
  const ReadOptions options{.scratch = folder.path(), .peers = "", .rounds = 2, .threads = 2, .scale = 1};
  const auto outcomes = run_reads(options, [](const std::string&) {});
  ASSERT_EQ(outcomes.size(), 3u);
  for (const ReadOutcome& outcome : outcomes) {
    EXPECT_GT(outcome.bytes, 1e6) << outcome.what;
    EXPECT_GT(outcome.ratio.median, 0) << outcome.what;
    EXPECT_GT(outcome.asked, 0) << outcome.what;
  }
  const std::string table = reads_table(outcomes, options);
  for (const char* word : {"HDF5, uncompressed", "TFRecord", "JPEG", "times the peer's speed"})
    EXPECT_NE(table.find(word), std::string::npos) << table;
}

TEST(Reads, InputLossOfASmallNetwork) {
  const tests::TemporaryFolder folder;
  const ReadOptions options{.scratch = folder.path(), .peers = "", .rounds = 2, .threads = 1, .scale = 2};
  const InputLoss loss = measure_input_loss("cosmoflow(size=32)", options);
  EXPECT_GT(loss.seconds_memory.median, 0);
  EXPECT_GT(loss.seconds_files.median, 0);
  EXPECT_GE(loss.wait_share, 0);
  EXPECT_LT(loss.wait_share, 1);
  EXPECT_NE(input_loss_line(loss).find("cosmoflow(size=32)"), std::string::npos);
  const auto records = reads_records({}, loss, 2);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].problem, "cosmoflow(size=32)");
  EXPECT_EQ(records[0].ours().seconds.median, loss.seconds_files.median);
}

}  // namespace
}  // namespace isobar::bench
