// The choice among ways to sum: its rules, its file, and that measuring, remembering and agreeing work on all ranks.
#include "isobar/comm/choice.hpp"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"
#include "isobar/comm/reducer.hpp"

#include "tests/comm/summing.hpp"
#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::comm {
namespace {

const std::vector<std::string> tried = {"tree", "ring", "pipelined_ring(segment=8192)"};
const Choice choice = {{100, 0}, {1000, 0}, {4000, 2}, {16000, 1}};

TEST(Choice, IsAmongTheAlgorithmsThatAreLeftOpen) {
  const auto names_of = [](const char* asked, bool many_per_node) {
    std::string text;
    for (const Spec& candidate : candidates(asked, many_per_node)) text += candidate.str() + " ";
    return text;
  };
  EXPECT_EQ(names_of("auto", false), "recursive_doubling ring halving_doubling pipelined_ring tree ");
  const std::string by_nodes =
      "hierarchical(outer=recursive_doubling) hierarchical(outer=ring) hierarchical(outer=halving_doubling) "
      "hierarchical(outer=pipelined_ring) hierarchical(outer=tree) ";
  EXPECT_EQ(names_of("auto", true), by_nodes);
  EXPECT_EQ(names_of("hierarchical", false), by_nodes);
  EXPECT_EQ(names_of("hierarchical(outer=auto)", true), by_nodes);
  for (const char* asked : {"ring", "hierarchical(outer=tree)", "hierarchical(inner=tree, outer=ring)"})
    EXPECT_EQ(names_of(asked, true), std::string(asked) + " ");
  EXPECT_EQ(between_nodes("hierarchical(outer=tree)"), Spec("tree"));
  EXPECT_FALSE(between_nodes("hierarchical(inner=tree, outer=ring)"));
  EXPECT_FALSE(between_nodes("ring"));
}

TEST(Choice, RulesHoldUpToTheirLength) {
  EXPECT_EQ(chosen(choice, 0), 0u);
  EXPECT_EQ(chosen(choice, 1000), 0u);
  EXPECT_EQ(chosen(choice, 1001), 2u);
  EXPECT_EQ(chosen(choice, 16001), 1u);
  EXPECT_EQ(describe(choice, tried), "tree up to 4.00 kB, pipelined_ring(segment=8192) up to 16.0 kB, ring above");
  EXPECT_EQ(describe({{100, 1}}, tried), "ring");
}

TEST(Choice, IsReadBack) {
  EXPECT_EQ(parse_choice(choice_text(choice, tried, "here"), tried, "here"), choice);
  EXPECT_FALSE(parse_choice(choice_text(choice, tried, "here"), tried, "there"));
}

TEST(Choice, DamagedTextIsNone) {
  const std::string text = choice_text(choice, tried, "here");
  for (std::size_t length = 0; length + 1 < text.size(); ++length)
    EXPECT_FALSE(parse_choice(text.substr(0, length), tried, "here")) << length;
  const auto with = [&](const std::string& line) {
    std::string other = text;
    return parse_choice(other.replace(other.find("1000 tree"), 9, line), tried, "here");
  };
  EXPECT_TRUE(with("1000 ring"));
  for (const char* line : {"1000 rung", "1000", "x tree", "-5 tree", " tree", "", "50 tree", "9999 tree",
                           "99999999999999999999999 tree", "1000  tree", "1e3 tree"})
    EXPECT_FALSE(with(line)) << line;
}

std::string described_by_all(const std::filesystem::path& file, int ranks, int per_node, std::size_t floats = 20000) {
  std::vector<std::string> all(static_cast<std::size_t>(ranks));
  run_ranks(
      ranks,
      [&](Comm& comm) {
        const auto reducer = tests::summing(comm, floats, {.cache = file.string()});
        for (const float x : reducer->memory()) ASSERT_EQ(x, 0);
        all[static_cast<std::size_t>(comm.rank())] = reducer->describe();
      },
      per_node);
  for (const std::string& text : all) EXPECT_EQ(text, all[0]);
  return all[0];
}

TEST(Choice, IsMeasuredOnceAndRemembered) {
  const tests::TemporaryFolder folder;
  const std::filesystem::path file = folder / "new" / "choice.txt";
  const std::string first = described_by_all(file, 4, 2);
  EXPECT_HAS(first, "(measured for 4 ranks on 2 nodes)");
  EXPECT_HAS(first, "hierarchical(outer=");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file.parent_path()), {}), 1);  // no fragments
  const std::string again = described_by_all(file, 4, 2);
  EXPECT_HAS(again, "(remembered for 4 ranks on 2 nodes)");
  EXPECT_EQ(again.substr(0, again.find(" (rem")), first.substr(0, first.find(" (mea")));
  EXPECT_HAS(described_by_all(file, 4, 1), "(measured for 4 ranks on 4 nodes)");  // another arrangement
  std::ofstream(file) << "isobar";
  EXPECT_HAS(described_by_all(file, 4, 1), "(measured");
  EXPECT_HAS(described_by_all(file, 4, 1), "(remembered");
}

TEST(Choice, WithoutAFileItIsMeasuredEveryTime) {
  const tests::TemporaryFolder folder;
  std::ofstream(folder / "file") << "no folder";
  for (int i = 0; i < 2; ++i) EXPECT_HAS(described_by_all(folder / "file" / "choice.txt", 2, 1, 10), "(measured");
  EXPECT_HAS(described_by_all(folder / "empty", 3, 2, 0), "(not measured");
}

TEST(Choice, ThreadsAreNotMeasuredUnasked) { EXPECT_HAS(described_by_all("", 3, 1), "(not measured for 3 ranks"); }

}  // namespace
}  // namespace isobar::comm
