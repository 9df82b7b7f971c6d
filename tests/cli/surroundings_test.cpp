// The surroundings of a run are in its record: the command, versions, and peaks that are measured once.
#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/capture.hpp"
#include "tests/cli/launched.hpp"

namespace {

using isobar::tests::text_of;

std::vector<fs::path> remembered(const TemporaryFolder& folder) {
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder.path() / "cache" / "isobar", none)) files.push_back(entry);
  return files;
}

TEST(Surroundings, PeaksAreMeasuredOnceAndRemembered) {
  const TemporaryFolder folder;
  const std::string train = "train '" + small_recipe(folder) + "' --overwrite --set 'folder=" + folder / "a run" + "'";
  const std::string cache = "XDG_CACHE_HOME='" + folder / "cache" + "' ";
  const Outcome check = run_isobar(train + " --check", cache);
  EXPECT_EQ(check.code, 0) << check;
  EXPECT_TRUE(remembered(folder).empty());  // a check measures nothing

  const Outcome first = run_isobar(train, cache);
  ASSERT_EQ(first.code, 0) << first;
  EXPECT_SHOWS(first, "% of peak)");
  ASSERT_EQ(remembered(folder).size(), 1u);
  const fs::path file = remembered(folder)[0];
  const std::string known = text_of(file);

  const auto run = nlohmann::json::parse(text_of(folder.path() / "a run" / "run.json"));
  EXPECT_GT(run["peaks"]["flops_per_second"], 0);
  EXPECT_GT(run["peaks"]["bytes_per_second"], 0);
  EXPECT_NE(run["peaks"]["how"].get<std::string>().find("measured on 20"), std::string::npos) << run["peaks"];
  const auto command = run["command"].get<std::string>();
  EXPECT_NE(command.find(" --overwrite --set 'folder=" + folder / "a run'"), std::string::npos) << command;
  EXPECT_EQ(run["versions"][0][0], "isobar");

  EXPECT_EQ(run_isobar(train, cache).code, 0);
  EXPECT_EQ(text_of(file), known);
  std::ofstream(file) << "damaged";
  EXPECT_EQ(run_isobar(train, cache).code, 0);
  EXPECT_TRUE(text_of(file).ends_with("\nend\n")) << text_of(file);
}

TEST(Surroundings, WhereNothingCanBeRememberedRunsGoOn) {
  const TemporaryFolder folder;
  std::ofstream(folder / "cache") << "no folder";
  const Outcome outcome = run_isobar("train '" + small_recipe(folder) + "' --set 'folder=" + folder / "run" + "'",
                                     "XDG_CACHE_HOME='" + folder / "cache" + "' ");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, "% of peak)");
}

TEST(Surroundings, DoctorMeasuresAnew) {
  const TemporaryFolder folder;
  const std::string cache = "XDG_CACHE_HOME='" + folder / "cache" + "' ";
  EXPECT_EQ(run_isobar("doctor --quick", cache).code, 0);
  EXPECT_TRUE(remembered(folder).empty());
  EXPECT_EQ(run_isobar("doctor", cache).code, 0);
  ASSERT_EQ(remembered(folder).size(), 1u);
  const fs::path file = remembered(folder)[0];
  const std::string known = text_of(file);
  // The same key as that of a run on all cores, with other figures.
  std::string other = known;
  const std::size_t line = other.find('\n', other.find('\n') + 1) + 1;
  other.replace(line, other.find('\n', line) - line, "1e9 1e9 1 2020-01-01");
  std::ofstream(file) << other;
  EXPECT_EQ(run_isobar("doctor", cache).code, 0);
  EXPECT_NE(text_of(file), other);
  EXPECT_TRUE(text_of(file).ends_with("\nend\n"));
}

}  // namespace
