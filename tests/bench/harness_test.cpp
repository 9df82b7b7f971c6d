#include "isobar/bench/harness.hpp"

#include <gtest/gtest.h>

namespace isobar::bench {
namespace {

// Runners that record the order in which they ran, and claim to take given times.
std::vector<Runner> made_runners(std::string& order, std::vector<double> seconds) {
  std::vector<Runner> runners;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const char letter = static_cast<char>('a' + i);
    runners.push_back({std::string(1, letter), [&order, letter, time = seconds[i]] {
                         order += letter;
                         return time;
                       }});
  }
  return runners;
}

TEST(Harness, TakesTurnsAndLetsOthersGoFirst) {
  std::string order;
  const auto runners = made_runners(order, {1, 2, 3});
  const Rounds seconds = take_turns(runners, {.rounds = 4, .least = 1, .seconds = 1e9, .warm_up = 1});
  EXPECT_EQ(order,
            "abc"
            "abcbcacababc");
  for (const auto& one : seconds) EXPECT_EQ(one.size(), 4u);
}

TEST(Harness, WhenTimeIsOverTheLeastIsDone) {
  std::string order;
  const auto runners = made_runners(order, {1});
  EXPECT_EQ(take_turns(runners, {.rounds = 30, .least = 3, .seconds = 0, .warm_up = 0})[0].size(), 3u);
}

TEST(Harness, RecordsTheRatioToTheBestPeerRoundByRound) {
  std::string order;
  const auto runners = made_runners(order, {0, 0, 0});
  Record record{"level", "name", "problem"};
  fill_record(record, runners, {{1, 2, 4}, {4, 4, 4}, {3, 4, 4.5}});
  ASSERT_EQ(record.entries.size(), 3u);
  EXPECT_EQ(record.ours().seconds.median, 2);
  EXPECT_EQ(record.entries[2].runs, 3);
  EXPECT_EQ(record.best_peer()->name, "b") << "the first of equal medians";
  EXPECT_EQ(record.speedup.median, 2) << "of 4, 2, 1";
  Record alone{"level", "name", "problem"};
  fill_record(alone, std::span(runners).first(1), {{1}});
  EXPECT_EQ(alone.speedup.median, 0);
}

}  // namespace
}  // namespace isobar::bench
