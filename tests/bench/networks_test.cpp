#include "isobar/bench/networks.hpp"

#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "isobar/bench/bare_primitives.hpp"
#include "isobar/bench/kernel_profile.hpp"
#include "isobar/zoo/network.hpp"

#include "tests/temporary_folder.hpp"

namespace isobar::bench {
namespace {

using tests::TemporaryFolder;

// A stand-in for our program that claims half a second per step, a quarter for a forward pass and a megabyte.
std::string stand_in(const TemporaryFolder& folder) {
  const std::string script = folder / "stand.sh";
  const std::string profile = profile_line({{"conv1 forward", "forward convolution", "1", 0.4, 2e9, 1e6, true}});
  std::ofstream(script) << "#!/bin/sh\necho ready stand\nwhile read a n; do case $a in memory) echo 1000000;; "
                           "step) if [ $n = 2 ]; then echo 0.5 0.5; else echo 0.5; fi;; forward) echo 0.25;; "
                           "profile) echo '"
                        << profile << "';; esac; done\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  return script;
}

TEST(Networks, MeasuresStepForwardMemoryAndProfile) {
  const TemporaryFolder folder;
  int notes = 0;
  NetworkContest contest{"cosmoflow(size=16, width=4, layers=2)", 2, {.rounds = 3}, 1, stand_in(folder), ""};
  contest.peaks = {1e11, 1e10, 1};
  const auto records = measure_network(contest, [&](const std::string&) { ++notes; });
  ASSERT_EQ(records.size(), 2u);
  const Record &training = records[0], &forward = records[1];
  EXPECT_DOUBLE_EQ(training.ours().seconds.median, 0.5);
  EXPECT_DOUBLE_EQ(training.ours().peak_bytes, 1e6);
  EXPECT_EQ(training.ours().runs, 3);
  EXPECT_GT(training.bare_seconds, 0);
  EXPECT_DOUBLE_EQ(training.over_bare(), 0.5 / training.bare_seconds);
  EXPECT_EQ(training.flops, 2e9) << "those of its profile";
  EXPECT_EQ(training.samples, 2);
  ASSERT_EQ(training.profile.size(), 1u);
  EXPECT_DOUBLE_EQ(forward.ours().seconds.median, 0.25);
  EXPECT_GT(forward.flops, 0);
  EXPECT_NE(training.key(), forward.key());
  EXPECT_GE(notes, 2);
}

TEST(Networks, EveryNetworkOfTheZooHasACase) {
  std::set<std::string> cases;
  for (const NetworkCase& one : network_cases()) {
    EXPECT_NO_THROW(zoo::make_network(one.model)) << one.model;
    cases.insert(Spec(one.model).name());
  }
  for (const auto* row : zoo::networks()) EXPECT_TRUE(cases.contains(std::string(row->name))) << row->name;
}

TEST(Networks, WhatIsAskedBelongsToSizeAndBatch) {
  EXPECT_EQ(asked_of("hep", 8).speed, 2.2);
  EXPECT_EQ(asked_of("hep", 8).memory_ratio, 0.7);
  EXPECT_EQ(asked_of("hep", 4).speed, 0);
  EXPECT_EQ(asked_of("hep(size=64)", 8).over_bare, 0);
  EXPECT_EQ(asked_of("deepcam(width=288, height=192)", 1).speed, 1.5) << "in whatever order it is written";
}

TEST(BarePrimitives, CountsAllElseAtWhatTheMachineAllows) {
  const char* model = "cosmoflow(size=16, width=4, layers=2)";
  BarePrimitives fast(model, 1, {1e15, 1e15, 1}), slow(model, 1, {1e15, 1e6, 1});
  EXPECT_GT(fast.run(), 0);
  slow.run();
  EXPECT_GT(fast.seconds(), 0);
  EXPECT_GT(slow.seconds(), 0.05) << "the optimizer alone moves more than 50 kB";
}

}  // namespace
}  // namespace isobar::bench
