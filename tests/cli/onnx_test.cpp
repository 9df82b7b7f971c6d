// `isobar onnx` and recipes that name an ONNX file, as a user sees them.
#include <fstream>

#include <gtest/gtest.h>

#include "tests/cli/program.hpp"

namespace {

TEST(Onnx, ExportedNetworksCheckAndShow) {
  const TemporaryFolder folder;
  const std::string file = folder / "net.onnx";
  const Outcome written = run_isobar("onnx export 'lenet(size=16, scale=0.2)' --out " + file);
  EXPECT_EQ(written.code, 0) << written;
  EXPECT_SHOWS(written, "x float32 [batch, 1, 16, 16]");
  const Outcome checked = run_isobar("onnx check " + file);
  EXPECT_EQ(checked.code, 0) << checked;
  EXPECT_SHOWS(checked, "operator set 17");
  const Outcome shown = run_isobar("onnx import --batch 3 " + file);
  EXPECT_EQ(shown.code, 0) << shown;
  EXPECT_SHOWS(shown, "3x12x12x4");
  EXPECT_SHOWS(shown, "onnx = \"" + file + "\"");
}

TEST(Onnx, ATrainedFileIsExportedWithItsWeights) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_isobar("onnx export 'lenet(size=16, scale=0.2)' --out " + (folder / "net.onnx")).code, 0);
  std::ofstream(folder / "recipe.toml")
      << "loss = \"softmax_cross_entropy\"\noptimizer = \"sgd(lr=0.1)\"\n"
      << "folder = \"" << (folder / "run") << "\"\n[model]\nonnx = \"" << (folder / "net.onnx") << "\"\n[data]\n"
      << "train = \"noise(shape=[16, 16, 1], targets=1, classes=10, count=8)\"\nbatch = 4\n"
      << "[train]\nepochs = 1\n";
  const Outcome trained = run_isobar("train --quiet " + (folder / "recipe.toml"));
  ASSERT_EQ(trained.code, 0) << trained;
  const Outcome written = run_isobar("onnx export " + (folder / "run") + " --out " + (folder / "trained.onnx"));
  EXPECT_EQ(written.code, 0) << written;
  EXPECT_EQ(run_isobar("onnx check " + (folder / "trained.onnx")).code, 0);
  const auto bytes = [](const std::string& name) {
    std::ifstream in(name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_NE(bytes(folder / "net.onnx"), bytes(folder / "trained.onnx")) << "training changed the weights";
}

TEST(Onnx, MistakesAreToldInOneLine) {
  const TemporaryFolder folder;
  std::ofstream(folder / "garbage.onnx") << "this is no model";
  const auto wrong = [&](const std::string& arguments, int code, const std::string& part) {
    const Outcome outcome = run_isobar(arguments);
    EXPECT_EQ(outcome.code, code) << outcome;
    EXPECT_TRUE(outcome.one_line()) << outcome;
    EXPECT_SHOWS(outcome, part);
  };
  wrong("onnx check " + (folder / "absent.onnx"), 1, "no such file");
  wrong("onnx check " + (folder / "garbage.onnx"), 1, "is not an ONNX model");
  wrong("onnx export nonet --out " + (folder / "x.onnx"), 2, "unknown network 'nonet'");
  wrong("onnx export lenet --out /nowhere/x.onnx", 1, "cannot write /nowhere/x.onnx");
  wrong("onnx", 2, "subcommand");
  ASSERT_EQ(run_isobar("onnx export 'lenet(size=16, scale=0.2)' --out " + (folder / "net.onnx")).code, 0);
  std::ofstream(folder / "recipe.toml") << "[model]\nonnx = \"" << (folder / "net.onnx") << "\"\n";
  wrong("train --check " + (folder / "recipe.toml"), 2, "has no loss of its own");
}

}  // namespace
