#include "isobar/bench/side_by_side.hpp"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

namespace isobar::bench {
namespace {

// A program that claims to take half a second a step and a megabyte, in place of ours.
class Stand : public testing::Test {
 protected:
  Stand() : script_(std::filesystem::temp_directory_path() / fmt::format("isobar_stand_{}.sh", getpid())) {
    std::ofstream(script_) << "#!/bin/sh\necho ready stand\nwhile read a n; do case $a in memory) echo 1000000;; "
                              "step) if [ $n = 2 ]; then echo 0.5 0.5; else echo 0.5; fi;; esac; done\n";
    std::filesystem::permissions(script_, std::filesystem::perms::owner_all);
  }
  ~Stand() override { std::filesystem::remove(script_); }
  SideBySide what(const char* model) const { return {model, 1, 3, 1, script_.string(), ""}; }

 private:
  std::filesystem::path script_;
};

TEST_F(Stand, SummarizesOursAndTheBarePrimitives) {
  int notes = 0;
  const SideBySide asked = what("cosmoflow(size=32)");
  const Outcome outcome = run_side_by_side(asked, [&](const std::string&) { ++notes; });
  EXPECT_DOUBLE_EQ(outcome.ours.seconds.median, 0.5);
  EXPECT_DOUBLE_EQ(outcome.ours.peak_bytes, 1e6);
  EXPECT_GT(outcome.bare_seconds, 0);
  EXPECT_DOUBLE_EQ(outcome.over_bare, 0.5 / outcome.bare_seconds);
  EXPECT_GE(notes, 4);
  EXPECT_NE(outcome_table(asked, outcome).find("500 [500, 500] ms"), std::string::npos)
      << outcome_table(asked, outcome);
  EXPECT_NE(outcome_json(asked, outcome).find("\"over_bare\""), std::string::npos);
}

TEST_F(Stand, PeersTakeTheSizeOnly) {
  SideBySide asked = what("cosmoflow(size=32, width=8)");
  asked.peers = "bench/peers";
  EXPECT_THROW(run_side_by_side(asked, [](const std::string&) {}), UsageError);
}

}  // namespace
}  // namespace isobar::bench
