#include "isobar/base/trace.hpp"

#include <set>

#include <gtest/gtest.h>

#include "isobar/base/clock.hpp"

namespace isobar {
namespace {

Event event(Category category, std::uint32_t name, double seconds) {
  return {.category = category, .name = name, .step = 1, .begin = 0, .seconds = seconds, .flops = 10, .bytes = 100};
}

TEST(Trace, InternsEachNameOnce) {
  Trace trace;
  const auto conv = trace.intern("conv"), relu = trace.intern("relu");
  EXPECT_NE(conv, relu);
  EXPECT_EQ(trace.intern("conv"), conv);
  EXPECT_EQ(trace.names()[relu], "relu");
  EXPECT_EQ(trace.names().size(), 2u);
}

TEST(Trace, TotalsCountWhatTheListHasNoRoomFor) {
  Trace trace(2);
  const auto name = trace.intern("conv");
  for (int i = 0; i < 3; ++i) trace.record(event(Category::forward_convolution, name, 0.5));
  trace.record(event(Category::idle, name, 2));
  EXPECT_EQ(trace.events().size(), 2u);
  EXPECT_EQ(trace.dropped(), 2);
  const CategoryTotal& total = trace.total(Category::forward_convolution);
  EXPECT_EQ(total.events, 3);
  EXPECT_EQ(total.seconds, 1.5);
  EXPECT_EQ(total.flops, 30);
  EXPECT_EQ(total.bytes, 300);
  EXPECT_EQ(trace.total(Category::idle).seconds, 2);
  EXPECT_EQ(trace.total(Category::copy).events, 0);
}

TEST(Trace, ClearForgetsEventsAndKeepsNames) {
  Trace trace(1);
  const auto name = trace.intern("conv");
  trace.record(event(Category::copy, name, 1));
  trace.record(event(Category::copy, name, 1));
  trace.clear();
  EXPECT_TRUE(trace.events().empty());
  EXPECT_EQ(trace.dropped(), 0);
  EXPECT_EQ(trace.total(Category::copy).events, 0);
  EXPECT_EQ(trace.intern("conv"), name);
}

TEST(Trace, EveryCategoryHasItsOwnName) {
  std::set<std::string_view> names;
  for (int c = 0; c < category_count; ++c) names.insert(category_name(static_cast<Category>(c)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(category_count));
  EXPECT_EQ(names.count(""), 0u);
  EXPECT_EQ(category_name(Category::idle), "idle");
}

TEST(Clock, NeverGoesBack) {
  double last = now_seconds();
  for (int i = 0; i < 1000; ++i) {
    const double now = now_seconds();
    ASSERT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace isobar
