#include "isobar/report/message_times.hpp"

#include <gtest/gtest.h>

namespace isobar::report {
namespace {

record::TraceEvent event(const char* name, Lane lane, double seconds, double bytes = 0) {
  return {.name = name, .category = "communication", .lane = lane, .step = 2, .seconds = seconds, .bytes = bytes};
}

record::PlannedStep step(const char* name, const char* kernel, const char* talk) {
  record::PlannedStep made{.name = name, .kernel = kernel};
  made.talk = talk;
  return made;
}

// Only what the rank waits for in a finish counts as waited: packing and beginning are work.
TEST(MessageTimes, TheyAreThoseOfANodeAndTheLongestWaitComesFirst) {
  record::RunRecord run;
  run.messages = {{.node = "a halo", .circle = "replica", .partners = {1}, .sent = {2, 16}},
                  {.node = "b halo", .circle = "replica", .partners = {1, 2}, .sent = {4, 32}}};
  for (const char* name : {"a halo", "b halo"})
    run.plan.insert(run.plan.end(),
                    {step(name, "pack", ""), step(name, "start", "start"), step(name, "finish", "finish")});
  const std::vector<record::TraceEvent> events{event("a halo messages", Lane::exchange, 2, 8),
                                               event("a halo messages", Lane::exchange, 3, 8),
                                               event("a halo pack", Lane::main, 7),
                                               event("a halo start", Lane::main, 9),
                                               event("a halo finish", Lane::main, 0.25),
                                               event("a halo finish", Lane::main, 0.25),
                                               event("b halo messages", Lane::exchange, 4, 32),
                                               event("b halo finish", Lane::main, 1),
                                               event("b halo messages", Lane::main, 5, 5),
                                               event("b halo finish", Lane::exchange, 5, 5)};
  const std::vector<MessageTime> times = message_times(run, events);
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].planned.node, "b halo");
  EXPECT_EQ(times[0].under_way_seconds, 4);
  EXPECT_EQ(times[0].waited_seconds, 1);
  EXPECT_EQ(times[0].bytes, 32);
  EXPECT_EQ(times[1].planned.partners, std::vector{1});
  EXPECT_EQ(times[1].under_way_seconds, 5);
  EXPECT_EQ(times[1].waited_seconds, 0.5);
  EXPECT_EQ(times[1].bytes, 16);
}

TEST(MessageTimes, WhatWasNotTracedHasNoTimes) {
  record::RunRecord run;
  run.messages = {{.node = "a halo"}};
  const std::vector<MessageTime> times = message_times(run, {});
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].under_way_seconds, 0);
}

}  // namespace
}  // namespace isobar::report
