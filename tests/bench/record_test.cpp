#include "isobar/bench/record.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "isobar/bench/record_text.hpp"

#include "tests/bench/made_record.hpp"
#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::bench {
namespace {

using namespace isobar::tests;

TEST(Record, ReadsBackWhatItWrites) {
  const Record record = made_record("hep", 0.5, 0.4, 0.7);
  const std::string line = record_line(record);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const Record back = parse_record(line);
  EXPECT_EQ(record_line(back), line);
  EXPECT_EQ(back.key(), record.key());
  ASSERT_EQ(back.entries.size(), 3u);
  EXPECT_EQ(back.entries[0].seconds.low, 0.4);
  EXPECT_EQ(back.entries[1].runs, 12);
  EXPECT_EQ(back.asked.over_bare, 1.15);
  ASSERT_EQ(back.profile.size(), 2u);
  EXPECT_TRUE(back.profile[0].library);
  EXPECT_FALSE(back.profile[1].library);
  EXPECT_EQ(back.facts, record.facts);
  EXPECT_EQ(back.where.machine, "a machine");
}

TEST(Record, TheBestPeerCounts) {
  const Record record = made_record("hep", 0.5, 0.4, 0.7);
  ASSERT_NE(record.best_peer(), nullptr);
  EXPECT_EQ(record.best_peer()->name, "torch plain");
  EXPECT_DOUBLE_EQ(record.memory_ratio(), 0.4);
  EXPECT_DOUBLE_EQ(record.over_bare(), 1.25);
  Record alone = record;
  alone.entries.resize(1);
  EXPECT_EQ(alone.best_peer(), nullptr);
  EXPECT_EQ(alone.memory_ratio(), 0);
}

TEST(Record, ABrokenLineIsAnErrorThatNamesIt) {
  const TemporaryFolder folder;
  const std::string file = folder / "rows.jsonl";
  const std::string good = record_line(made_record("hep", 0.5, 0.4, 0.7));
  const std::pair<std::string, std::string> broken[] = {
      {good.substr(0, good.size() / 2), "not JSON"},
      {"[1, 2]", "not an object"},
      {"{}", "'level'"},
      {R"({"level": "a", "name": "b", "problem": "c"})", "no contestant"},
      {R"({"level": "a", "name": "b", "problem": "c", "entries": [3]})", "not an object"},
      {R"({"level":"a","name":"b","problem":"c","entries":[{"name":"i","runs":1,"seconds":{"median":-1,"low":0,"high":2}}]})",
       "cannot have been measured"},
      {R"({"level":"a","name":"b","problem":"c","entries":[{"name":"i","runs":1,"seconds":{"median":3,"low":0,"high":2}}]})",
       "outside its interval"}};
  for (const auto& [line, reason] : broken) {
    std::ofstream(file) << good << "\n\n" << line << "\n";
    EXPECT_HAS(error_of([&] { read_records(file); }), "line 3");
    EXPECT_HAS(error_of([&] { read_records(file); }), reason);
  }
  EXPECT_HAS(error_of([&] { read_records(folder / "none.jsonl"); }), "cannot be read");
  std::ofstream(file) << good << "\n\n" << good << "\n";
  EXPECT_EQ(read_records(file).size(), 2u) << "empty lines are skipped";
}

TEST(Record, TextSaysTheAimAndWhetherItIsReached) {
  const Record record = made_record("hep", 0.5, 0.4, 0.7);
  const std::string text = record_text(record);
  for (const char* word : {"500 [400, 700] ms", "torch plain", "at least 1.5, reached", "at most 1.15, MISSED",
                           "0.40 of its memory (aim: at most 0.7, reached)", "2.0 GF/s"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
  EXPECT_FALSE(reached(record));
  Record better = record;
  better.bare_seconds = 0.45;
  EXPECT_TRUE(reached(better));
  better.asked.speed = 2.5;
  EXPECT_FALSE(reached(better));
  EXPECT_TRUE(reached(Record{"reads", "", ""})) << "it has no aim";
}

}  // namespace
}  // namespace isobar::bench
