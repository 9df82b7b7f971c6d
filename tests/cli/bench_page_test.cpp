// The page of `isobar bench`, made from rows.
#include "tests/cli/made_rows.hpp"

namespace {

TEST(BenchPage, ThePageShowsEveryRowAndWhatIsMissed) {
  const TemporaryFolder folder;
  const std::string rows = file_with(folder, "rows.jsonl", row("hep", 1) + row("alexnet & more", 0.5) + row("hep", 2));
  const Outcome outcome = run_isobar("bench --from " + rows + " --html " + folder / "page.html");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, "rows shown in");
  std::ifstream in(folder / "page.html");
  const std::string page((std::istreambuf_iterator<char>(in)), {});
  for (const char* part : {"<b>hep</b>", "alexnet &amp; more", "torch &lt;plain&gt;", "conv1 forward", "a machine",
                           "class=\"bad\"", "2000 [1900, 2100] ms"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(page.find("1000 [950, 1050] ms"), std::string::npos) << "the last of equal rows is shown";
  EXPECT_EQ(page.find("http"), std::string::npos) << "needs no network";
}

}  // namespace
