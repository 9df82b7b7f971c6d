// `isobar eval` and `isobar predict` as a user sees them.
#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/capture.hpp"
#include "tests/cli/launched.hpp"

namespace {

using isobar::tests::text_of;

// Trains a few steps of a regression in `run`.
std::string trained(const TemporaryFolder& folder, const std::string& more = "") {
  const Outcome outcome =
      run_isobar("train --quiet --threads 1 --set folder=" + folder / "run" + more + " " + small_recipe(folder));
  EXPECT_EQ(outcome.code, 0) << outcome;
  return folder / "run";
}

// The last evaluation in the files of a run.
nlohmann::json last_test(const std::string& run) {
  std::istringstream lines(text_of(run + "/metrics.jsonl"));
  nlohmann::json found;
  for (std::string line; std::getline(lines, line);) {
    const auto record = nlohmann::json::parse(line);
    if (record.at("kind") == "epoch") found = record.at("test");
  }
  return found;
}

void expect_failure(const std::string& arguments, int code, const std::string& part) {
  const Outcome outcome = run_isobar(arguments);
  EXPECT_EQ(outcome.code, code) << arguments << "\n" << outcome;
  EXPECT_TRUE(outcome.one_line()) << outcome;
  EXPECT_SHOWS(outcome, part);
}

TEST(Eval, RepeatsTheLastEvaluationOfARun) {
  const TemporaryFolder folder;
  const std::string run = trained(folder);
  const Outcome outcome = run_isobar("eval --threads 1 --json " + folder / "eval.json" + " " + run);
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, "checkpoint after step 10, epoch 2 of 2\n");
  EXPECT_SHOWS(outcome, ": 13 samples\n");
  const auto record = nlohmann::json::parse(text_of(folder / "eval.json"));
  EXPECT_EQ(record.at("results"), last_test(run));
  EXPECT_EQ(record.at("step"), 10);
  for (const LaunchKind& kind : launch_kinds()) {
    const std::string json = folder / kind.name + ".json";
    const Outcome ranks = run_isobar("eval --json " + json + " " + run, kind.words + " 2 ");
    EXPECT_EQ(ranks.code, 0) << ranks;
    const auto same = nlohmann::json::parse(text_of(json));
    EXPECT_EQ(same.at("ranks"), 2);
    for (const auto& [name, value] : record.at("results").items())
      EXPECT_NEAR(same.at("results").at(name).get<double>(), value.get<double>(), 1e-5) << name;
  }
}

TEST(Eval, MetricsAndSamplesCanBeChosen) {
  const TemporaryFolder folder;
  const std::string run = trained(folder);
  const Outcome outcome = run_isobar("eval --metrics 'r2, mae' --samples 2:5 " + run);
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, ": 3 samples\n");
  EXPECT_SHOWS(outcome, "  r2");
  expect_failure("eval --quiet --metrics acuracy " + run, 2, "accuracy");
  expect_failure("eval --quiet --samples 3:x " + run, 2, "'x' is not a sample number");
  expect_failure("eval --quiet --samples 3:99 " + run, 2, "0:13");
  expect_failure("eval --quiet --loss mse " + run, 2, "a run has its own");
  expect_failure("eval --quiet " + folder / "absent", 1, "no such run folder");
  expect_failure("eval --quiet --data 'noise(shape=[4, 4, 4, 4], targets=4)' " + run, 1, "field 'x' of a sample");
  fs::remove_all(run + "/checkpoints");
  expect_failure("eval --quiet " + run, 1, "no checkpoint yet");
}

TEST(Predict, WritesEverySampleOnce) {
  const TemporaryFolder folder;
  const std::string run = trained(folder);
  const std::string out = folder / "all.h5";
  const Outcome outcome = run_isobar("predict --threads 1 --pictures " + folder / "seen" + " --out " + out + " " + run);
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, "samples per second");
  EXPECT_TRUE(fs::exists(folder / "seen/pictures.json")) << outcome;
  const Outcome shown = run_isobar("data inspect " + out);
  EXPECT_SHOWS(shown, "prediction");
  EXPECT_SHOWS(shown, "[13, 4]");
  expect_failure("predict --quiet --out " + out + " " + run, 1, "--overwrite replaces it");
  EXPECT_EQ(run_isobar("predict --quiet --overwrite --out " + out + " " + run).text, "");
  expect_failure("predict --quiet --out " + folder / "all.csv" + " " + run, 2, "valid: .h5 (HDF5), .nc (NetCDF)");
  expect_failure("predict --quiet --out " + folder / "all.nc" + " " + run, 2, "takes maps");
  expect_failure("predict --quiet --out " + folder / "absent/all.h5" + " " + run, 1, "does not exist");
  expect_failure("predict --quiet --probabilities --out " + folder / "p.h5" + " " + run, 2, "has none");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.path()))
    EXPECT_TRUE(entry.path().filename() == "all.h5" || entry.path().extension() != ".h5") << entry.path();
}

TEST(Predict, MasksOfTheAtmosphereAreNetcdf) {
  const TemporaryFolder folder;
  std::ofstream(folder / "recipe.toml")
      << "model = \"tiramisu(height=16, width=32, channels=2, filters=4, growth=4, kernel=3, blocks=[1, 1], "
         "dropout=0)\"\nfolder = \""
      << folder / "run"
      << "\"\n[data]\nbatch = 2\n"
      << "train = \"atmosphere(height=16, width=32, channels=[TMQ, PSL], count=4)\"\n"
      << "test = \"atmosphere(height=16, width=32, channels=[TMQ, PSL], count=3, run=1)\"\n"
      << "transforms = [\"subtract_mean\"]\n[train]\nepochs = 1\n";
  const Outcome outcome = run_isobar("train --quiet " + folder / "recipe.toml");
  ASSERT_EQ(outcome.code, 0) << outcome;
  const std::string out = folder / "masks.nc", both = folder / "both.nc";
  const Outcome written = run_isobar("predict --threads 1 --probabilities --out " + out + " " + folder / "run");
  ASSERT_EQ(written.code, 0) << written;
  const Outcome shown = run_isobar("data inspect " + out);
  EXPECT_EQ(shown.code, 0) << shown;
  for (const char* part : {"lat", "lon", "time", "prediction", "target", "probability_river"})
    EXPECT_SHOWS(shown, part);
  // Two ranks write the same maps: the files differ only in the time in their history.
  const Outcome ranks =
      run_isobar("predict --quiet --out " + both + " " + folder / "run", launch_kinds()[0].words + " 2 ");
  ASSERT_EQ(ranks.code, 0) << ranks;
  const Outcome stats_one = run_isobar("data stats 'netcdf(path=" + out + ", x=prediction)'"),
                stats_two = run_isobar("data stats 'netcdf(path=" + both + ", x=prediction)'");
  const auto table = [](const Outcome& o) { return o.text.substr(o.text.find("channel")); };
  EXPECT_EQ(table(stats_one), table(stats_two));
  // Predictions for the user's own data, without labels.
  const Outcome made = run_isobar("data make atmosphere --out " + folder / "own" +
                                  " --height 16 --width 32 --train 2 --test 0 --format netcdf");
  ASSERT_EQ(made.code, 0) << made;
  const Outcome own = run_isobar("predict --quiet --out " + folder / "own.nc" +
                                 " --data 'netcdf(path=" + folder / "own/train" + ", x=[TMQ, PSL])' " + folder / "run");
  EXPECT_EQ(own.code, 0) << own;
  const Outcome unlabelled = run_isobar("data inspect " + folder / "own.nc");
  EXPECT_SHOWS(unlabelled, "prediction");
  EXPECT_FALSE(unlabelled.has("target")) << unlabelled;
}

TEST(Predict, OnnxFilesNeedNoLoss) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_isobar("onnx export 'lenet(size=16, scale=0.2)' --out " + folder / "net.onnx").code, 0);
  const std::string data = " --data 'noise(shape=[16, 16, 1], targets=1, classes=10, count=7)' ";
  const Outcome outcome = run_isobar("predict --out " + folder / "p.h5" + data + folder / "net.onnx");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, "weights as in the file");
  EXPECT_SHOWS(run_isobar("data inspect " + folder / "p.h5"), "class");
  const Outcome evaluated = run_isobar("eval" + data + folder / "net.onnx");
  EXPECT_EQ(evaluated.code, 0) << evaluated;
  EXPECT_SHOWS(evaluated, "accuracy");
  EXPECT_FALSE(evaluated.has("loss")) << evaluated;
  EXPECT_SHOWS(run_isobar("eval --loss softmax_cross_entropy" + data + folder / "net.onnx"), "loss");
  expect_failure("predict --quiet --out " + folder / "q.h5" + " " + folder / "net.onnx", 2, "name some: --data");
  expect_failure("predict --quiet --probabilities --out " + folder / "q.h5" + data + folder / "net.onnx", 2,
                 "--loss softmax_cross_entropy");
}

// A signal in the middle: nothing is left of the file.
TEST(Predict, CanBeStopped) {
  const TemporaryFolder folder;
  const std::string run = trained(folder), out = folder / "many.h5";
  Launched launched(std::string(ISOBAR_PROGRAM) + " predict --threads 1 --batch 1 --out " + out +
                        " --data 'noise(shape=[8, 8, 8, 4], targets=4, count=10000000)' " + run,
                    folder / "log");
  const auto begun = [&] {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder.path()))
      if (entry.path().filename().string().find("many.h5") != std::string::npos) return true;
    return false;
  };
  ASSERT_TRUE(launched.wait_until(begun)) << text_of(folder / "log");
  launched.send(SIGINT);
  const Outcome outcome = launched.outcome(60);
  EXPECT_EQ(outcome.code, 130) << outcome;
  EXPECT_SHOWS(outcome, "stopped: nothing was written");
  EXPECT_FALSE(begun());
}

}  // namespace
