// The contestant of `isobar bench training`: one epoch at a time, on request.
#include <fstream>
#include <sstream>

#include "tests/cli/program.hpp"

namespace {

TEST(BenchTraining, ServesEpochByEpoch) {
  const TemporaryFolder folder;
  std::ofstream(folder / "recipe.toml")
      << "model = \"cosmoflow(size=8, width=4, layers=2)\"\nfolder = \"" << folder / "run"
      << "\"\n[data]\nbatch = 2\ntrain = \"noise(shape=[8, 8, 8, 4], targets=[4], count=6)\"\n"
      << "test = \"noise(shape=[8, 8, 8, 4], targets=[4], count=4)\"\n[train]\nepochs = 5\n";
  std::ofstream(folder / "questions") << "epoch\nepoch\n";
  const std::string command = std::string(ISOBAR_PROGRAM) + " bench --serve --training " + folder / "recipe.toml" +
                              " --threads 1 < " + folder / "questions" + " > " + folder / "answers";
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::ifstream answers(folder / "answers");
  std::string line;
  ASSERT_TRUE(std::getline(answers, line));
  EXPECT_EQ(line, "ready isobar");
  int epochs = 0;
  for (; std::getline(answers, line); ++epochs) {
    std::istringstream numbers(line);
    double train = 0, test = 0, loss = 0;
    EXPECT_TRUE(numbers >> train >> test >> loss) << line;
    EXPECT_GT(train, 0);
    EXPECT_GT(loss, 0);
  }
  EXPECT_EQ(epochs, 2) << "and no further one";
}

}  // namespace
