// The program as a user sees it: verbs, their output, and wrong calls.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/capture.hpp"
#include "tests/cli/program.hpp"

namespace {

using isobar::tests::text_of;

TEST(Program, HelpAndVersion) {
  const Outcome help = run_isobar("--help");
  EXPECT_EQ(help.code, 0);
  for (const char* verb : {"demo", "train", "plan", "zoo", "list", "data", "doctor", "bench"}) EXPECT_SHOWS(help, verb);
  EXPECT_EQ(run_isobar("--version").code, 0);
  EXPECT_SHOWS(run_isobar("--version"), "isobar ");
  EXPECT_EQ(run_isobar("").code, 2);
  for (const char* verb : {"demo", "train", "plan", "zoo", "list", "data", "data make", "data make universe",
                           "data inspect", "data convert", "data stats", "doctor", "bench"})
    EXPECT_EQ(run_isobar(std::string(verb) + " --help").code, 0) << verb;
}

TEST(Program, WrongCallsEndWithTwoAndOneLine) {
  expect_wrong_call("plam", "unknown verb 'plam' (did you mean 'plan'?)");
  expect_wrong_call("zoo --everything", "--everything");
  expect_wrong_call("plan", "MODEL is required");
  expect_wrong_call("plan cosmoflwo", "unknown network 'cosmoflwo' (did you mean 'cosmoflow'?)");
  expect_wrong_call("plan 'cosmoflow(sise=32)'", "did you mean 'size'?");
  expect_wrong_call("plan 'cosmoflow(size=33)'", "multiple of 32");
  expect_wrong_call("plan 'cosmoflow(size=32'", "cosmoflow(size=32");
  expect_wrong_call("plan cosmoflow --batch 0", "--batch");
  expect_wrong_call("plan cosmoflow --batch many", "many");
  expect_wrong_call("plan cosmoflow --phase tryout", "tryout");
  expect_wrong_call("plan 'cosmoflow(size=32)' --without fuse_pointwize", "did you mean 'fuse_pointwise'?");
  expect_wrong_call("list optimzers", "unknown family 'optimzers' (did you mean 'optimizers'?)");
  expect_wrong_call("data", "data: one of these must follow: make, inspect, convert, stats, tokenize");
  expect_wrong_call("data mkae", "did you mean 'make'?");
  expect_wrong_call("data make univers", "data make: unknown 'univers' (did you mean 'universe'?)");
  expect_wrong_call("data make universe", "--out is required");
  expect_wrong_call("data make universe --out nowhere --train -1", "--train");
  expect_wrong_call("data inspect 'nois(shape=[4])'", "did you mean 'noise'?");
  EXPECT_FALSE(fs::exists("nowhere"));
}

TEST(Zoo, TellsSizes) {
  const Outcome zoo = run_isobar("zoo");
  EXPECT_EQ(zoo.code, 0);
  EXPECT_SHOWS(zoo, "8,907,556 parameters");
  EXPECT_SHOWS(zoo, "7,041,443 parameters, 21.3 GF forward for a sample of 128x128x128x1");
  EXPECT_SHOWS(zoo, "cosmoflow(size=128, channels=4");
}

TEST(List, FamiliesAndMembers) {
  const Outcome all = run_isobar("list");
  EXPECT_EQ(all.code, 0);
  for (const char* word : {"operators", "optimizers", "rates", "initializers", "datasets", "networks", "strategies",
                           "passes", "metrics", "conv", "adam", "cosine", "he_normal", "hdf5", "solo", "mae"})
    EXPECT_SHOWS(all, word);
  const Outcome optimizers = run_isobar("list optimizers");
  EXPECT_EQ(optimizers.code, 0);
  EXPECT_SHOWS(optimizers, "adam(lr=0.001");
  EXPECT_SHOWS(run_isobar("list datasets"), "path=<text>)");
}

TEST(Plan, TableAndJson) {
  const Outcome training = run_isobar("plan 'cosmoflow(size=32)'");
  EXPECT_EQ(training.code, 0);
  EXPECT_SHOWS(training, "4,778,788 parameters");
  EXPECT_SHOWS(training, "conv5");
  EXPECT_SHOWS(training, "arena");
  const Outcome inference = run_isobar("plan 'cosmoflow(size=32)' --batch 2 --phase inference --json");
  EXPECT_EQ(inference.code, 0);
  EXPECT_SHOWS(inference, "\"parameters\": 4778788");
  EXPECT_SHOWS(inference, "\"batch\": 2");
  EXPECT_FALSE(inference.has("backward")) << inference;
  const Outcome plain =
      run_isobar("plan 'cosmoflow(size=32)' --without fuse_pointwise --without pool_before_activation");
  EXPECT_EQ(plain.code, 0);
  EXPECT_GT(plain.text.size(), training.text.size()) << "without fusion there are more steps";
}

TEST(Doctor, TellsTheMachine) {
  const Outcome doctor = run_isobar("doctor --quick");
  EXPECT_EQ(doctor.code, 0);
  for (const char* word : {"processor", "OpenMP", "memory", "oneDNN uses", "HDF5", "What would slow a run down"})
    EXPECT_SHOWS(doctor, word);
  EXPECT_FALSE(doctor.has("Measured")) << doctor;
}

// A recipe that trains in a moment; the run goes to `folder`/run.
std::string tiny_recipe(const TemporaryFolder& folder) {
  std::ofstream(folder / "tiny.toml") << "model = 'cosmoflow(size=8, channels=1, width=4, layers=2, outputs=2)'\n"
                                      << "folder = '" << folder / "run"
                                      << "'\n"
                                      << "[data]\nbatch = 2\n"
                                      << "train = 'noise(shape=[8, 8, 8, 1], targets=2, count=12)'\n"
                                      << "test = 'noise(shape=[8, 8, 8, 1], targets=2, count=5, seed=2)'\n"
                                      << "[train]\nepochs = 2\n";
  return "train '" + folder / "tiny.toml" + "'";
}

TEST(Train, OneSeedGivesTheSameBytes) {
  const TemporaryFolder one, two;
  const Outcome first = run_isobar(tiny_recipe(one)), second = run_isobar(tiny_recipe(two) + " --quiet");
  EXPECT_EQ(first.code, 0) << first;
  EXPECT_SHOWS(first, "finished 12 steps");
  EXPECT_EQ(second.code, 0) << second;
  EXPECT_EQ(second.text, "");
  const std::string metrics = text_of(one / "run/metrics.jsonl");
  EXPECT_NE(metrics.find("\"step\":12"), std::string::npos) << metrics;
  EXPECT_EQ(metrics, text_of(two / "run/metrics.jsonl"));
  for (const char* name : {"checkpoints", "recipe.toml", "report.txt", "predictions.csv", "timing.jsonl"})
    EXPECT_TRUE(fs::exists(one / "run/" + name)) << name;
}

TEST(Train, RunsAreNotOverwrittenUnasked) {
  const TemporaryFolder folder;
  const std::string train = tiny_recipe(folder);
  EXPECT_EQ(run_isobar(train).code, 0);
  const Outcome again = run_isobar(train);
  EXPECT_EQ(again.code, 1) << again;
  EXPECT_SHOWS(again, "--overwrite");
  EXPECT_EQ(run_isobar(train + " --overwrite --set train.epochs=1").code, 0);
}

TEST(Train, WrongRecipesAreAnsweredAndNothingIsWritten) {
  const TemporaryFolder folder;
  const std::string train = tiny_recipe(folder);
  expect_wrong_call("train '" + folder / "not_there.toml" + "'", "not_there.toml");
  expect_wrong_call(train + " --set train.epoch=3", "did you mean 'epochs'?");
  expect_wrong_call(train + " --set optimizer=addam", "did you mean 'adam'?");
  expect_wrong_call(train + " --set train.epochs=many", "epochs");
  expect_wrong_call(train + " --set data.batch=0", "batch must be at least 1");
  EXPECT_EQ(run_isobar(train + " --set data.batch=64").code, 1) << "more than there are samples";
  EXPECT_FALSE(fs::exists(folder / "run"));
  std::ofstream(folder / "file") << "in the way";
  const Outcome unwritable = run_isobar(train + " --set folder=" + folder / "file/run");
  EXPECT_EQ(unwritable.code, 1) << unwritable;
  EXPECT_TRUE(unwritable.one_line()) << unwritable;
}

// Noise in place of the user's data, and a network small enough for a test; a recipe without a row here must run
// unchanged.
const std::map<std::string, std::string> stand_ins{
    {"alexnet", "data.batch=2 model.scale=0.25 data=[256,256,3] targets=1"},
    {"caffenet", "data.batch=2 model.scale=0.25 data=[256,256,3] targets=1"},
    {"cifar10_full", "data=[32,32,3] targets=1"},
    {"cifar10_quick", "data=[32,32,3] targets=1"},
    {"climate_detector", "model.height=64 model.width=128 model.scale=0.1 data=[64,128,16] targets=[1,2,10]"},
    {"cosmoflow", "data=[128,128,128,4] targets=4"},
    {"deepcam", "data.transforms=[] model.height=32 model.width=48 model.scale=0.1 data=[32,48,16] targets=[32,48]"},
    {"deeplabv3plus", "model.height=32 model.width=48 model.scale=0.1 data=[32,48,16] targets=[32,48]"},
    {"googlenet", "data.batch=2 data=[256,256,3] targets=1"},
    {"gpt", "data=[128] targets=128"},
    {"gpt2_small", "model.layers=2 model.vocabulary=99 data=[1024] targets=1024"},
    {"hep", "data.batch=2 data=[224,224,3] targets=1"},
    {"lstm_classifier", "data=[128,200] targets=1"},
    {"mnist", "data=[28,28,1] targets=1"},
    {"resnet101", "data.batch=2 model.scale=0.1 data=[224,224,3] targets=11166"},
    {"tiramisu", "model.height=32 model.width=48 data=[32,48,16] targets=[32,48]"},
};

// The options for a row of stand_ins.
std::string stand_in(const std::string& row) {
  std::istringstream words(row);
  std::string options, shape;
  for (std::string word; words >> word;) {
    if (word.starts_with("data=")) shape = word.substr(5);
    else if (!word.starts_with("targets=")) options += " --set '" + word + "'";
    else
      for (const char* part : {"train", "test"})
        options += std::string(" --set 'data.") + part + "=noise(shape=" + shape + ", " + word + ", count=128)'";
  }
  return options;
}

// A model that is cut over two ranks is planned for these; the option lets one rank check the rest.
std::string cut_over_ranks(const fs::path& recipe) {
  if (text_of(recipe).find("\nsplit = ") == std::string::npos) return "";
  const Outcome plan = run_isobar("plan '" + recipe.string() + "' --ranks 2");
  EXPECT_EQ(plan.code, 0) << plan;
  EXPECT_SHOWS(plan, "messages");
  return " --set parallel.split=none";
}

TEST(Train, EveryExampleRecipeIsSound) {
  std::set<std::string> models;
  for (const auto& entry : fs::directory_iterator(ISOBAR_RECIPES)) {
    const std::string cut = cut_over_ranks(entry.path());
    const auto row = stand_ins.find(entry.path().stem().string());
    const Outcome check = run_isobar("train --check '" + entry.path().string() + "'" +
                                     (row == stand_ins.end() ? "" : stand_in(row->second)) + cut);
    EXPECT_EQ(check.code, 0) << check;
    EXPECT_SHOWS(check, "is sound");
    const std::string text = text_of(entry.path()), key = "model = \"";
    const std::size_t begin = text.find(key) + key.size();
    models.insert(text.substr(begin, text.find_first_of("(\"", begin) - begin));
  }
  std::istringstream zoo(run_isobar("zoo").text);
  for (std::string line; std::getline(zoo, line);) {
    const bool is_name =
        !line.empty() && line.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    EXPECT_TRUE(!is_name || models.contains(line)) << "no recipe for " << line;
  }
  EXPECT_FALSE(fs::exists("runs"));
}

TEST(Demo, ShowsItsRecipe) {
  const Outcome demo = run_isobar("demo --show --set train.epochs=3");
  EXPECT_EQ(demo.code, 0);
  EXPECT_SHOWS(demo, "epochs = 3");
}

}  // namespace
