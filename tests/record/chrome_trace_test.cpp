#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "isobar/base/clock.hpp"
#include "isobar/record/sinks.hpp"

#include "tests/record/talking_plan.hpp"
#include "tests/record/traced.hpp"

namespace isobar::record {
namespace {

using namespace isobar::tests;
namespace fs = std::filesystem;
using nlohmann::json;

struct Shown {
  std::int64_t step;
  double begin, end;
};

// Checks what a viewer relies on and returns the events: they lie inside their step, and none overlaps another in its
// row.
std::vector<json> sound(const fs::path& file) {
  const json all = json::parse(text_of(file));
  std::map<std::int64_t, Shown> steps;
  std::map<std::int64_t, std::vector<Shown>> rows;
  std::map<std::int64_t, std::string> names;
  std::vector<json> events;
  for (const json& e : all) {
    if (e.at("ph") == "M") {
      if (e.at("name") == "thread_name") names[e.at("tid")] = e.at("args").at("name");
      continue;
    }
    EXPECT_EQ(e.at("ph"), "X");
    const std::int64_t step = e.at("args").at("step");
    const double begin = e.at("ts"), end = begin + e.at("dur").get<double>();
    EXPECT_TRUE(names.contains(e.at("tid"))) << e;
    rows[e.at("tid")].push_back({step, begin, end});
    if (e.at("tid") == 0) {
      steps[step] = {step, begin, end};
      continue;
    }
    EXPECT_TRUE(steps.contains(step)) << e;
    EXPECT_GE(begin, steps[step].begin - 0.0015) << e;
    EXPECT_LE(end, steps[step].end + 0.0015) << e;
    events.push_back(e);
  }
  for (auto& [row, list] : rows) {
    std::ranges::sort(list, {}, &Shown::begin);
    for (std::size_t i = 1; i < list.size(); ++i)
      EXPECT_GE(list[i].begin, list[i - 1].end - 0.0015) << "row " << row << " " << names[row];
  }
  return events;
}

TEST(ChromeTrace, IsValidAfterEveryStepAndReadBack) {
  const TemporaryFolder folder;
  MadeStep made;
  const auto sink = chrome_trace(1 << 20);
  EXPECT_TRUE(sink->on_every_rank());
  sink->start(made_start(folder.path()));
  const fs::path file = folder / "trace" / "rank0.json";
  EXPECT_EQ(json::parse(text_of(file)).size(), 1u);
  for (const std::int64_t step : {2, 5}) {
    sink->traced(made.step(step, 10 * static_cast<double>(step)));
    sound(file);
  }
  const std::vector<TraceEvent> events = read_trace(folder.path(), 0);
  ASSERT_EQ(events.size(), 14u);
  EXPECT_EQ(events[1].name, "conv \"1\"\n");
  EXPECT_EQ(events[1].category, "forward convolution");
  EXPECT_EQ(events[1].flops, 1e9);
  EXPECT_EQ(events[1].bytes, 64);
  EXPECT_NEAR(events[1].seconds, 2, 1e-9);
  EXPECT_NEAR(events[8].begin - events[1].begin, 30, 1e-6);
  std::map<Lane, int> lanes;
  for (const TraceEvent& e : events) ++lanes[e.lane];
  EXPECT_EQ(lanes[Lane::main], 8);
  EXPECT_EQ(lanes[Lane::exchange], 4) << "also those that overlap, in a row of their own";
  EXPECT_EQ(lanes[Lane::reader], 2);
}

TEST(ChromeTrace, MessagesOfTheModelSayWhomTheyAreExchangedWith) {
  const graph::Plan plan = talking_plan();
  const TemporaryFolder folder;
  Trace trace;
  const std::uint32_t named = trace.intern("edges messages"), other = trace.intern("sum");
  const std::vector<Event> events{{Category::communication, named, 2, 1, 3, 0, 0},
                                  {Category::communication, named, 2, 1, 1, 0, 24, Lane::exchange},
                                  {Category::communication, other, 2, 2, 1, 0, 32, Lane::exchange}};
  const auto sink = chrome_trace(1 << 20);
  train::Start start = made_start(folder.path());
  start.plan = &plan;
  sink->start(start);
  sink->traced({2, 1, 3, events, &trace});
  const std::vector<json> found = sound(folder / "trace" / "rank0.json");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[1].at("args"), json::parse(R"({"step":2,"flops":0,"bytes":24,"circle":"replica","partners":[0,2]})"));
  for (const std::size_t i : {0, 2}) EXPECT_FALSE(found[i].at("args").contains("partners")) << found[i];
}

TEST(ChromeTrace, CutOffAtAnyByteItIsReadUpToThere) {
  const TemporaryFolder folder;
  MadeStep made;
  const auto sink = chrome_trace(1 << 20);
  sink->start(made_start(folder.path()));
  sink->traced(made.step(2, 20));
  const fs::path file = folder / "trace" / "rank0.json";
  const std::string whole = text_of(file);
  std::size_t most = 0;
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    std::ofstream(file, std::ios::binary) << whole.substr(0, length);
    const std::size_t events = read_trace(folder.path(), 0).size();
    EXPECT_TRUE(events == most || events == most + 1) << length;
    most = events;
  }
  EXPECT_EQ(most, 7u);
}

TEST(ChromeTrace, ResumedItGoesOnBehindWhatItKeeps) {
  const double later = 1e3 * now_seconds() + 1e6;  // the clock restarts after a reboot
  for (const double began : {1.0, later}) {
    for (const bool torn : {false, true}) {
      const TemporaryFolder folder;
      const fs::path file = folder / "trace" / "rank0.json";
      MadeStep made;
      const auto first = chrome_trace(1 << 20);
      first->start(made_start(folder.path()));
      for (const int step : {2, 4, 6}) first->traced(made.step(step, began + 10 * step));
      disk::flush_late_files();
      if (torn) fs::resize_file(file, fs::file_size(file) - 200);
      const auto second = chrome_trace(1 << 20);
      second->start(made_start(folder.path(), 4));
      sound(file);
      second->traced(made.step(8, now_seconds()));
      sound(file);
      std::map<std::int64_t, int> steps;
      for (const TraceEvent& e : read_trace(folder.path(), 0)) ++steps[e.step];
      EXPECT_EQ(steps, (std::map<std::int64_t, int>{{2, 7}, {4, 7}, {8, 7}}));
    }
  }
}

TEST(ChromeTrace, AFileThatIsNoTraceIsReplaced) {
  const TemporaryFolder folder;
  const fs::path file = folder / "trace" / "rank0.json";
  fs::create_directories(folder / "trace");
  MadeStep made;
  for (const char* text : {"", "[", "[\n", "garbage\n", "\n\n"}) {
    std::ofstream(file) << text;
    const auto sink = chrome_trace(1 << 20);
    sink->start(made_start(folder.path(), 3));
    sink->traced(made.step(4, 1));
    EXPECT_EQ(sound(file).size(), 7u) << text;
  }
}

TEST(ChromeTrace, NeverGrowsAboveItsLimitAndShowsTheWholeRun) {
  const TemporaryFolder folder;
  const fs::path file = folder / "trace" / "rank0.json";
  MadeStep made;
  constexpr std::int64_t most = 6000;  // about five of ten steps
  const auto sink = chrome_trace(most);
  sink->start(made_start(folder.path()));
  for (int step = 1; step <= 10; ++step) {
    sink->traced(made.step(step, 10 * step));
    EXPECT_LE(fs::file_size(file), static_cast<std::uintmax_t>(most));
  }
  std::set<std::int64_t> steps;
  for (const json& e : sound(file)) steps.insert(e.at("args").at("step").get<std::int64_t>());
  EXPECT_GE(steps.size(), 3u);
  EXPECT_LT(steps.size(), 10u);
  EXPECT_EQ(*steps.begin(), 1);
  EXPECT_GE(*steps.rbegin(), 7) << "not only the beginning";
}

// Every rank's trace is sound and adds up to its profile.
void expect_sound(const fs::path& folder, const RunRecord& run) {
  for (const RankRecord& rank : run.by_rank) {
    sound(folder / "trace" / fmt::format("rank{}.json", rank.rank));
    std::array<CategoryTotal, category_count> sums{};
    for (const TraceEvent& e : read_trace(folder, rank.rank)) {
      if (e.lane != Lane::main) continue;
      for (int c = 0; c < category_count; ++c) {
        if (e.category != category_name(static_cast<Category>(c))) continue;
        CategoryTotal& sum = sums[static_cast<std::size_t>(c)];
        ++sum.events;
        sum.seconds += e.seconds;
        sum.flops += e.flops;
        sum.bytes += e.bytes;
      }
    }
    const auto totals = run.totals(rank);
    for (std::size_t c = 0; c < totals.size(); ++c) {
      EXPECT_EQ(sums[c].events, totals[c].events);
      EXPECT_EQ(sums[c].flops, totals[c].flops);
      EXPECT_NEAR(sums[c].seconds, totals[c].seconds,
                  0.01 * totals[c].seconds + 1e-9 * static_cast<double>(totals[c].events));
    }
  }
}

TEST(ChromeTrace, EveryRankOfARunWritesWhatItsProfileAddsUp) {
  const TemporaryFolder folder;
  traced_run(folder.path(), 2, {"report.trace_steps=1000", "strategy=sync(bucket_mb=0.0001, algorithm=ring)"});
  const RunRecord run = read_run(folder.path());
  ASSERT_EQ(run.by_rank.size(), 2u);
  expect_sound(folder.path(), run);
}

// A rank that keeps parameters shows its updates, each with the rank whose gradients it got.
TEST(ChromeTrace, WhoServesShowsItsUpdates) {
  const TemporaryFolder folder;
  traced_run(folder.path(), 3, {"report.trace_steps=1000", "strategy=async"});
  const RunRecord run = read_run(folder.path());
  ASSERT_EQ(run.by_rank.size(), 3u);
  expect_sound(folder.path(), run);
  EXPECT_EQ(run.teams, 2);
  EXPECT_FALSE(run.by_rank[0].serves || run.by_rank[1].serves);
  EXPECT_TRUE(run.by_rank[2].serves);
  // Both workers take 15 steps, all traced.
  ASSERT_EQ(run.by_rank[2].steps.size(), 30u);
  for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(run.by_rank[2].steps[i].step, static_cast<std::int64_t>(i) + 1);
  std::map<std::string, int> counts;
  for (const TraceEvent& e : read_trace(folder.path(), 2)) ++counts[e.name];
  for (const char* name : {"gradients of rank 0", "gradients of rank 1", "weights to rank 0", "weights to rank 1"})
    EXPECT_EQ(counts[name], 15) << name;
  EXPECT_EQ(counts["update"], 30);
  EXPECT_NE(text_of(folder / "trace" / "rank2.json").find("rank 2, keeps parameters"), std::string::npos);
}

}  // namespace
}  // namespace isobar::record
