#include "isobar/parallel/sum_watch.hpp"

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"

#include "tests/comm/summing.hpp"

namespace isobar::parallel {
namespace {

// Starts and waits for the sum of one bucket and of the numbers, on each of so many ranks; returns rank 0's trace.
CategoryTotal watched_on(int ranks, std::vector<Event>& events, std::vector<std::string>& names) {
  CategoryTotal total;
  comm::run_ranks(ranks, [&](comm::Comm& comm) {
    StepTrace trace;
    const auto reducer = isobar::tests::summing(comm, 32, {.algorithm = "ring"});
    SumWatch watch(comm, &trace, 1);
    watch.begin(3);
    trace.begin_step(3, now_seconds(), true);
    comm::Reducer::Sum sum{}, numbers{};
    watch.timed(0, 0, [&] { sum = watch.start(*reducer, {.range = {0, 16}, .priority = 0}, 0); });
    watch.timed(watch.numbers(), 0, [&] {
      numbers = watch.start(*reducer, {.range = {16, 16}, .priority = 1, .what = "loss"}, watch.numbers());
    });
    watch.wait(0, 64, [&] { reducer->wait(sum); });
    watch.wait(watch.numbers(), 64, [&] { reducer->wait(numbers); });
    if (comm.rank() != 0) return;
    const auto all = trace.end_step(now_seconds());
    events.assign(all.begin(), all.end());
    for (const Event& event : events) names.push_back(trace.main().names()[event.name]);
    total = trace.all().total(Category::communication);
  });
  return total;
}

TEST(SumWatches, ShowSumsInTheTraceWhileTheyAreUnderWay) {
  std::vector<Event> events;
  std::vector<std::string> names;
  const CategoryTotal total = watched_on(2, events, names);
  EXPECT_EQ(total.events, 4);
  EXPECT_EQ(total.bytes, 128);
  int beside = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].lane != Lane::exchange) continue;
    ++beside;
    EXPECT_TRUE(names[i] == "gradients 1 of 1" || names[i] == "loss and statistics") << names[i];
    EXPECT_EQ(events[i].bytes, 64);
  }
  EXPECT_EQ(beside, 2);
}

TEST(SumWatches, HaveNothingToTellOfOneRankAlone) {
  std::vector<Event> events;
  std::vector<std::string> names;
  EXPECT_EQ(watched_on(1, events, names).events, 0);
}

}  // namespace
}  // namespace isobar::parallel
