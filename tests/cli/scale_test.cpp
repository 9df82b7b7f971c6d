// isobar scale: a study of one recipe on several numbers of ranks.
#include "tests/cli/launched.hpp"

namespace {

TEST(Scale, StrongAndWeak) {
  const TemporaryFolder folder;
  const std::string study = folder / "study";
  for (const std::string mode : {"weak", "strong"}) {
    const Outcome outcome =
        run_isobar("scale " + small_recipe(folder) + " --ranks 1,2 --mode " + mode + " --folder " + study);
    ASSERT_EQ(outcome.code, 0) << outcome;
    EXPECT_SHOWS(outcome, mode == "weak" ? "Weak scaling" : "Strong scaling");
    EXPECT_TRUE(fs::exists(study + "/" + mode + ".svg"));
    EXPECT_TRUE(fs::exists(study + "/" + mode + ".html"));
    std::ifstream csv(study + "/" + mode + ".csv");
    std::string line;
    for (int i = 0; i < 3; ++i) std::getline(csv, line);
    EXPECT_TRUE(line.starts_with(mode == "weak" ? "weak,2,1,16," : "strong,2,1,8,")) << line;
  }
  const Outcome wrong = run_isobar("scale " + small_recipe(folder) + " --ranks 16 --mode strong");
  EXPECT_EQ(wrong.code, 2) << wrong;
  EXPECT_SHOWS(wrong, "leaves ranks without samples");
}

TEST(Scale, ASignalStopsTheRunUnderWay) {
  const TemporaryFolder folder;
  Launched launched(ISOBAR_PROGRAM " scale " + small_recipe(folder) +
                        " --ranks 2 --set train.epochs=1000000 --folder " + folder / "study",
                    folder / "out");
  ASSERT_TRUE(launched.wait_until([&] { return fs::exists(folder / "study/weak-2-ranks/metrics.jsonl"); }))
      << launched.outcome(0);
  launched.send(SIGTERM);
  const Outcome outcome = launched.outcome(30);
  EXPECT_EQ(outcome.code, 130) << outcome;
  EXPECT_SHOWS(outcome, "stopped during the run on 2 ranks");
  EXPECT_TRUE(launched.wait_until([&] { return launched.marked().empty(); })) << "ranks were left behind";
}

}  // namespace
