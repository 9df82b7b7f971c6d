// How the launcher reports deaths: the user's lines, the JSON lines, the table, the post-mortem file.
#include "isobar/control/chronicle.hpp"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "isobar/post_mortem/post_mortem.hpp"

#include "tests/temporary_folder.hpp"

namespace isobar::control {
namespace {

std::string contents(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

Death death_of(int rank, double time, bool worked = true) {
  Death death{.rank = rank, .pid = 123, .host = "x", .note = "step 12", .time = time};
  death.worked = worked;
  return death;
}

struct Chronicled : testing::Test {
  isobar::tests::TemporaryFolder folder;
  std::vector<std::string> lines;
  Chronicle chronicle{[this](const std::string& line) { lines.push_back(line); }, folder / "log.jsonl", 10};
};

TEST_F(Chronicled, a_death_is_told_once_with_how_it_was_overcome) {
  chronicle.folder(folder.path());
  chronicle.going(1, 1, {0, 1, 2, 3});
  chronicle.progress(2, 12);
  chronicle.died(death_of(2, 3));
  chronicle.explained(2, 9, 0, "step 13: gradients 3 of 7");
  chronicle.progress(3.01, 12);  // from a rank that does not know of the death yet
  EXPECT_TRUE(lines.empty());
  chronicle.going(3.02, 2, {0, 1, 3, 4});
  chronicle.progress(3.08, 13);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(
      lines[0],
      "rank 2 (pid 123, host x) died of signal 9 during \"step 13: gradients 3 of 7\"; 4 ranks go on, rank 4 takes "
      "its place: step 13 finished 0.08 s after the death");
  chronicle.progress(4, 14);
  chronicle.ended(5, 0);
  EXPECT_EQ(lines.size(), 1u);
  const std::string log = contents(folder / "log.jsonl");
  EXPECT_NE(log.find(R"("finished_after":13,"finished_before":12,"rank":2,"recovery_seconds":0.08)"), std::string::npos)
      << log;
  EXPECT_NE(log.find(R"("event":"death")"), std::string::npos);
  const std::string table = chronicle.table();
  EXPECT_NE(table.find("signal 9"), std::string::npos);
  EXPECT_NE(table.find("0.08"), std::string::npos);
  const std::string mortem = contents(post_mortem::post_mortem_file(folder.path(), 2));
  for (const char* part :
       {"told by the launcher", "died of signal 9", "step 13: gradients 3 of 7", "step 12 of the run"})
    EXPECT_NE(mortem.find(part), std::string::npos) << mortem;
}

TEST_F(Chronicled, two_deaths_are_overcome_together) {
  chronicle.going(1, 1, {0, 1, 2, 3});
  chronicle.died(death_of(2, 3));
  chronicle.died(death_of(1, 3.05));
  chronicle.going(4, 2, {0, 3});
  chronicle.progress(5, 1);
  chronicle.tick(6);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("2 ranks go on: step 1 finished 2.00 s"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("rank 1 (pid 123, host x) died of an unknown cause"), std::string::npos) << lines[1];
}

TEST_F(Chronicled, a_death_that_takes_long_to_overcome_is_told_before) {
  chronicle.going(1, 1, {0, 1, 2});
  chronicle.died(death_of(2, 3));
  chronicle.tick(4);
  EXPECT_TRUE(lines.empty());
  chronicle.tick(6);
  chronicle.tick(7);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("died of an unknown cause during \"step 12\"; the others gather"), std::string::npos);
  chronicle.going(8, 2, {0, 1});
  chronicle.progress(9, 4);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1], "after the death of rank 2: 2 ranks go on: step 4 finished 6.00 s after the death");
}

TEST_F(Chronicled, a_quick_recovery_waits_for_the_cause) {
  chronicle.going(1, 1, {0, 1, 2});
  chronicle.died(death_of(2, 3));
  chronicle.going(3.001, 2, {0, 1});
  chronicle.progress(3.002, 4);
  EXPECT_TRUE(lines.empty());
  chronicle.explained(2, 9, 0, "");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("died of signal 9"), std::string::npos);
  EXPECT_NE(lines[0].find("2 ranks go on: step 4"), std::string::npos);
}

TEST_F(Chronicled, a_run_that_ends_tells_all_deaths) {
  chronicle.died(death_of(2, 3));
  chronicle.ended(3.1, 1);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("the run ended before another step"), std::string::npos);
}

TEST_F(Chronicled, a_spare_that_nobody_needed_is_told_at_once) {
  chronicle.going(1, 1, {0, 1});
  chronicle.died(death_of(2, 3, false));
  chronicle.explained(2, 11, 0, "");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("died of signal 11"), std::string::npos);
  chronicle.progress(4, 5);
  EXPECT_EQ(lines.size(), 1u);
}

TEST_F(Chronicled, a_relaunch_says_why) {
  chronicle.died(death_of(1, 3));
  chronicle.relaunching(3, "1 rank is left, --min-ranks asks for 2");
  chronicle.explained(1, 9, 0, "");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("--min-ranks asks for 2"), std::string::npos);
  EXPECT_NE(lines[1].find("died of signal 9 during \"step 12\"; all ranks are restarted"), std::string::npos);
  EXPECT_NE(chronicle.table().find("relaunch"), std::string::npos);
}

TEST_F(Chronicled, a_rank_of_the_next_launch_explains_no_death_of_the_last) {
  chronicle.launched(0, 0, 2, 0, 1);
  chronicle.died(death_of(1, 3));
  chronicle.relaunching(3, "no rank is left");
  chronicle.launched(4, 1, 2, 0, 2);
  chronicle.explained(1, 0, 0, "ends well");
  EXPECT_FALSE(chronicle.deaths()[0].explained);
}

TEST(Chronicle, without_deaths_there_is_no_table) {
  const Chronicle chronicle([](const std::string&) {}, "", 10);
  EXPECT_EQ(chronicle.table(), "");
}

TEST(Chronicle, a_log_that_cannot_be_written_is_an_error) {
  EXPECT_ANY_THROW(Chronicle([](const std::string&) {}, "no/such/folder/log.jsonl", 10));
}

}  // namespace
}  // namespace isobar::control
