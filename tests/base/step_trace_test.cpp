#include "isobar/base/step_trace.hpp"

#include <thread>

#include <gtest/gtest.h>

#include "isobar/base/clock.hpp"

namespace isobar {
namespace {

Event event(Category category, double begin, double seconds, double flops = 0) {
  return {.category = category, .name = 1, .step = 7, .begin = begin, .seconds = seconds, .flops = flops, .bytes = 8};
}

double sum(std::span<const Event> events, Lane lane = Lane::main) {
  double seconds = 0;
  for (const Event& e : events)
    if (e.lane == lane) seconds += e.seconds;
  return seconds;
}

TEST(StepTrace, GapsAreIdleSoThatTheStepAddsUp) {
  StepTrace trace;
  trace.begin_step(3, 10, true);
  trace.main().record(event(Category::input_output, 10, 1));
  trace.main().record(event(Category::forward_convolution, 12, 2, 5));
  trace.main().record(event(Category::backward_convolution, 14, 1));
  const auto events = trace.end_step(16);
  ASSERT_EQ(events.size(), 5u);
  const Category expected[] = {Category::input_output, Category::idle, Category::forward_convolution,
                               Category::backward_convolution, Category::idle};
  double at = 10;
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].category, expected[i]);
    EXPECT_EQ(events[i].begin, at);
    EXPECT_EQ(events[i].step, 3) << "the step it was done in, whatever it was done for";
    at += events[i].seconds;
  }
  EXPECT_EQ(at, 16);
  EXPECT_EQ(trace.main().names()[events[1].name], "idle");
  EXPECT_EQ(trace.all().total(Category::idle).seconds, 2);
  EXPECT_EQ(trace.all().total(Category::forward_convolution).flops, 5);
}

TEST(StepTrace, OfOtherStepsOnlySumsAreKept) {
  StepTrace trace;
  for (int step = 1; step <= 3; ++step) {
    trace.begin_step(step, step, false);
    trace.main().record(event(Category::optimizer, step + 0.25, 0.5));
    EXPECT_TRUE(trace.end_step(step + 1).empty());
    EXPECT_TRUE(trace.main().events().empty());
  }
  EXPECT_EQ(trace.all().total(Category::optimizer).events, 3);
  EXPECT_EQ(trace.all().total(Category::optimizer).seconds, 1.5);
  EXPECT_EQ(trace.all().total(Category::idle).seconds, 1.5);
  EXPECT_TRUE(trace.all().events().empty());
}

TEST(StepTrace, WhatLiesWithinAnEventIsCutOutOfIt) {
  StepTrace trace;
  trace.begin_step(1, 0, true);
  trace.main().record(event(Category::copy, 0, 1));
  trace.main().record(event(Category::communication, 2, 1));
  trace.main().record(event(Category::communication, 5, 1));
  trace.main().record(event(Category::forward_pointwise, 1, 9, 1001));
  const auto events = trace.end_step(10);
  EXPECT_DOUBLE_EQ(sum(events), 10);
  double flops = 0, seconds = 0, at = 0;
  for (const Event& e : events) {
    EXPECT_DOUBLE_EQ(e.begin, at);
    at = e.begin + e.seconds;
    if (e.category != Category::forward_pointwise) continue;
    flops += e.flops;
    seconds += e.seconds;
  }
  EXPECT_EQ(flops, 1001) << "not one lost";
  EXPECT_EQ(seconds, 7);
  EXPECT_EQ(trace.all().total(Category::communication).seconds, 2);
  EXPECT_EQ(trace.all().total(Category::forward_pointwise).flops, 1001);
  EXPECT_EQ(trace.all().total(Category::idle).events, 0);
}

TEST(StepTrace, EventsWithoutLengthAreWithinNothing) {
  StepTrace trace;
  trace.begin_step(1, 0, true);
  trace.main().record(event(Category::copy, 0, 0));
  trace.main().record(event(Category::optimizer, 0, 1));
  const auto events = trace.end_step(1);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].seconds, 1);
}

TEST(StepTrace, WorkBesideShowsAsFarAsItLiesInTheStep) {
  StepTrace trace;
  const auto before = trace.begin_beside(Lane::exchange, Category::communication, 0);
  trace.end_beside(before, 1);  // ends before the step
  const auto reaching_in = trace.begin_beside(Lane::reader, Category::input_output, 0);
  const double begin = now_seconds();
  trace.begin_step(1, begin, true);
  std::thread([&] { trace.end_beside(reaching_in, 100); }).join();
  const auto going_on = trace.begin_beside(Lane::exchange, Category::communication, 0);
  while (now_seconds() == begin) {
  }
  const double end = now_seconds() + 1;
  const auto events = trace.end_step(end);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].category, Category::idle);
  EXPECT_EQ(events[0].seconds, end - begin);
  EXPECT_EQ(events[1].lane, Lane::reader);
  EXPECT_EQ(events[1].begin, begin);
  EXPECT_EQ(events[1].bytes, 100);
  EXPECT_EQ(events[2].lane, Lane::exchange);
  EXPECT_DOUBLE_EQ(events[2].begin + events[2].seconds, end);
  EXPECT_EQ(events[2].step, 1);

  trace.begin_step(2, end, false);
  trace.end_step(end + 1);
  trace.end_beside(going_on, 4);
  trace.begin_step(3, end + 1, true);
  EXPECT_EQ(trace.end_step(end + 2).size(), 1u) << "what ended in other steps is forgotten";
  EXPECT_EQ(trace.all().total(Category::communication).events, 0) << "only the main lane is added up";
}

TEST(StepTrace, ADroppedStepLeavesNothing) {
  StepTrace trace;
  trace.begin_step(1, 0, true);
  trace.drop_step();
  const auto mark = trace.begin_beside(Lane::reader, Category::input_output, 0);
  trace.end_beside(mark, 1);
  EXPECT_TRUE(trace.end_step(1).empty());
}

TEST(StepTrace, WorkBetweenStepsIsAddedUpToo) {
  StepTrace trace;
  trace.main().record(event(Category::communication, 0, 1));
  trace.begin_step(1, 2, true);
  trace.main().record(event(Category::optimizer, 2, 1));
  EXPECT_EQ(trace.end_step(3).size(), 1u);
  trace.main().record(event(Category::optimizer, 4, 1));
  trace.drop_step();
  EXPECT_EQ(trace.all().total(Category::communication).seconds, 1);
  EXPECT_EQ(trace.all().total(Category::optimizer).events, 2);
  EXPECT_EQ(trace.all().total(Category::idle).events, 0);
}

}  // namespace
}  // namespace isobar
