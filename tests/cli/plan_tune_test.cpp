// isobar plan --tune, as a user sees it: what it shows, what it remembers, who uses that.
#include <fstream>

#include "tests/cli/program.hpp"

namespace {

std::string in_cache(const TemporaryFolder& folder) {
  return "XDG_CACHE_HOME='" + (folder / "cache") + "' OMP_NUM_THREADS=1 ";
}

fs::path only_file(const TemporaryFolder& folder) {
  fs::path found;
  for (const auto& entry : fs::directory_iterator(fs::path(folder / "cache") / "isobar"))
    if (entry.path().filename().string().starts_with("tuning-")) found = entry.path();
  return found;
}

TEST(PlanTune, RemembersAndShowsWhatItChose) {
  const TemporaryFolder folder;
  const Outcome tuned = run_isobar("plan lenet --batch 2 --tune --workspace 64MB --allow-inexact", in_cache(folder));
  EXPECT_EQ(tuned.code, 0) << tuned;
  EXPECT_SHOWS(tuned, "layer                    direction        chosen");
  EXPECT_SHOWS(tuned, "weight gradient");
  EXPECT_SHOWS(tuned, "ms without tuning");
  EXPECT_SHOWS(tuned, "remembered in");
  ASSERT_FALSE(only_file(folder).empty());
}

// A choice that no measurement would make here, written to the file: the plan follows it unless told not to.
TEST(PlanTune, ThePlanUsesIt) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_isobar("plan lenet --batch 2 --tune", in_cache(folder)).code, 0);
  const fs::path file = only_file(folder);
  std::ifstream in(file);
  std::string first, key;
  std::getline(in, first);
  std::getline(in, key);
  in.close();
  std::ofstream(file) << first << "\n" << key << "\n256000000 0 \n0.1 0.2 0 0 forward im2col:1,im2col:1 conv1\nend\n";
  const Outcome plan = run_isobar("plan lenet --batch 2", in_cache(folder));
  EXPECT_SHOWS(plan, "forward by im2col 1+1");
  EXPECT_SHOWS(plan, "tuned: 1 kernels");
  EXPECT_FALSE(run_isobar("plan lenet --batch 2 --untuned", in_cache(folder)).has("im2col"));
  EXPECT_FALSE(run_isobar("plan lenet --batch 3", in_cache(folder)).has("im2col"));
  std::ofstream(file) << "broken";
  const Outcome broken = run_isobar("plan lenet --batch 2", in_cache(folder));
  EXPECT_EQ(broken.code, 0) << broken;
  EXPECT_SHOWS(broken, "isobar: tuning is not used: ");
}

TEST(PlanTune, WrongCalls) {
  expect_wrong_call("plan lenet --workspace 1MB", "--tune");
  expect_wrong_call("plan lenet --tune --workspace much", "--workspace");
  expect_wrong_call("plan lenet --tune --phase inference", "--phase");
  const Outcome none = run_isobar("plan 'gpt(layers=1, width=16, heads=2, context=8, vocabulary=16)' --tune");
  EXPECT_EQ(none.code, 1) << none;
  EXPECT_SHOWS(none, "no convolutions");
}

}  // namespace
