#include "isobar/bench/serving.hpp"

#include <cstdio>
#include <sstream>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/bench/kernel_profile.hpp"
#include "isobar/comm/local_comm.hpp"

namespace isobar::bench {
namespace {

// The answers of rank 0 among `ranks` ranks.
std::vector<std::string> answers(int ranks, const std::string& strategy, const std::string& questions) {
  std::vector<std::string> lines;
  comm::run_ranks(
      ranks,
      [&](comm::Comm& comm) {
        std::FILE *const in = std::tmpfile(), *const out = std::tmpfile();
        std::fputs(questions.c_str(), in);
        std::rewind(in);
        Serving serving{.model = "cosmoflow(size=32)", .world = &comm};
        if (!strategy.empty()) serving.company = {&comm, strategy};
        serve_steps(serving, in, out);
        std::rewind(out);
        std::vector<char> line(1 << 20);
        while (comm.rank() == 0 && std::fgets(line.data(), static_cast<int>(line.size()), out))
          lines.emplace_back(line.data());
        std::fclose(in);
        std::fclose(out);
      },
      ranks);
  return lines;
}

TEST(Serving, AnswersSteps) {
  for (const int ranks : {1, 2}) {
    const auto lines = answers(ranks, ranks == 1 ? "" : "sync", "step 2\nexchange\nmemory\n");
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_TRUE(lines[0].starts_with("ready isobar")) << lines[0];
    std::istringstream steps(lines[1]), exchange(lines[2]);
    double a = 0, b = 0, waited = -1, busy = -1, sums = -1, bytes = -1;
    EXPECT_TRUE(steps >> a >> b) << lines[1];
    EXPECT_GT(a, 0);
    EXPECT_TRUE(exchange >> waited >> busy >> sums >> bytes) << lines[2];
    EXPECT_EQ(sums > 0, ranks > 1);
    EXPECT_GT(std::stod(lines[3]), 1e6);
  }
}

TEST(Serving, ProcessesWithoutExchangeAreTimedTogether) {
  const auto lines = answers(2, "", "step 2\n");
  ASSERT_EQ(lines.size(), 2u);
  const std::size_t gap = lines[1].find(' ');
  EXPECT_EQ(lines[1].substr(0, gap), lines[1].substr(gap + 1, lines[1].size() - gap - 2)) << "one time for the row";
}

TEST(Serving, AnswersForwardPassesAndTheProfile) {
  const auto lines = answers(1, "", "forward 2\nprofile 2\n");
  ASSERT_EQ(lines.size(), 3u);
  std::istringstream passes(lines[1]);
  double a = 0, b = 0;
  EXPECT_TRUE(passes >> a >> b) << lines[1];
  EXPECT_GT(a, 0);
  EXPECT_GT(parse_profile(lines[2]).size(), 10u);
}

TEST(Serving, AQuestionItDoesNotKnowIsAnError) { EXPECT_THROW(answers(1, "", "sing\n"), Error); }

}  // namespace
}  // namespace isobar::bench
