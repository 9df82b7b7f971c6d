// Logs for MLPerf HPC: whole runs pass the rules, damaged logs do not, and values are those of the recipe.
#include <gtest/gtest.h>

#include "isobar/base/config.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/record/mlperf_recipe.hpp"
#include "isobar/record/sinks.hpp"

#include "tests/capture.hpp"
#include "tests/record/mlperf_rules.hpp"

namespace isobar::record {
namespace {

using namespace isobar::tests;
using Strings = std::vector<std::string>;

constexpr const char* cosmoflow = R"toml(
model = "cosmoflow(size=128, dropout=0.5)"
optimizer = "sgd(lr=0.001, momentum=0.9, weight_decay=0.0001)"
rate = "warmup(epochs=4, from=0.25, per=epoch, then=scale(by=linear, base_batch=64, then=piecewise(boundaries=[32, 64], factors=[0.25, 0.125])))"
[data]
staging = "none"
[train]
metrics = ["mae"]
)toml";

constexpr const char* deepcam = R"toml(
model = "deepcam"
optimizer = "lamb(lr=0.001, beta1=0.9, beta2=0.95, epsilon=1e-6, weight_decay=0.01, bias_correction=true)"
rate = "warmup(epochs=2, from=0.5, then=scale(by=sqrt, base_batch=128, then=cosine(end=0.01, epochs=0)))"
seed = 7
[data]
staging = "shards(path='nvme')"
readers = 3
[train]
metrics = ["iou(kind=sample)"]
clip_norm = 1.0
micro_batches = 8
sync_batch_norm = true
)toml";

struct LoggedRun {
  explicit LoggedRun(const char* recipe) {
    job.recipe = parse_recipe(recipe, "test");
    job.report.mlperf = true;
    job.report.mlperf_organization = "an institute";
    job.report.mlperf_platform = "a cluster";
    job.report.mlperf_division = "closed";
    job.report.mlperf_status = "research";
    start.recipe = job.recipe;
    start.folder = folder.path();
    start.epochs = 3;
    start.steps_per_epoch = 10;
    start.train_samples = 121266;
    start.test_samples = 15158;
    start.ranks = 4;
    start.nodes = 2;
    start.global_batch = 128;
    start.staging_seconds = 5;
  }

  // Steps of a second; the metric after each epoch. Stops before epoch `last` + 1.
  void train(const std::string& metric, std::vector<double> values, std::int64_t last, train::End::Reason reason) {
    const auto sink = mlperf_log(job, [&] { return now; });
    now += 20;
    sink->start(start);
    for (std::int64_t step = start.first_step + 1; step <= 10 * last; ++step) {
      now += 1;
      const std::int64_t epoch = (step + 9) / 10;
      sink->step({step, epoch, (step - 1) % 10 + 1, 128, 0.5, 1e-3, 1, 0});
      if (step % 10 != 0) continue;
      now += 2;
      sink->epoch({epoch, step, 0.5, {{"loss", 1}, {metric, values[static_cast<std::size_t>(epoch - 1)]}}, 10, 2});
    }
    sink->end({reason, 10 * last, 99, {}});
  }

  std::string text() const { return text_of(folder / "mlperf.log"); }

  TemporaryFolder folder;
  train::Job job;
  train::Start start;
  double now = 1'800'000'000;
};

std::vector<nlohmann::json> lines_of(const std::string& log) {
  std::vector<nlohmann::json> lines;
  std::istringstream in(log);
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line.substr(9)));
  return lines;
}

nlohmann::json value_of(const std::string& log, const std::string& key) {
  for (const nlohmann::json& line : lines_of(log))
    if (line["key"] == key) return line["value"];
  return "no such key";
}

std::string cosmoflow_log(double last = 0.1) {
  LoggedRun run(cosmoflow);
  run.train("mae", {0.5, 0.3, last}, 3, train::End::Reason::finished);
  return run.text();
}

std::string deepcam_log() {
  LoggedRun run(deepcam);
  run.train("iou", {0.5, 0.7, 0.83}, 3, train::End::Reason::finished);
  return run.text();
}

TEST(MlperfLog, WholeRunsPassTheRules) {
  EXPECT_EQ(MlperfRules::complaints(cosmoflow_log()), Strings{}) << cosmoflow_log();
  EXPECT_EQ(MlperfRules::complaints(deepcam_log()), Strings{}) << deepcam_log();
}

TEST(MlperfLog, LinesHaveTheirForm) {
  const std::string log = cosmoflow_log();
  EXPECT_TRUE(log.starts_with(R"(:::MLLOG {"namespace":"","time_ms":1800000000000,"event_type":"POINT_IN_TIME",)"
                              R"("key":"cache_clear","value":false,"metadata":{"file":"mlperf_log.cpp","lineno":)"))
      << log;
  EXPECT_NE(log.find(R"("key":"run_stop","value":null,"metadata":)"), std::string::npos);
}

TEST(MlperfLog, TimesAreThoseOfTheRun) {
  const std::string log = deepcam_log();
  std::map<std::string, std::vector<std::int64_t>> seconds;
  for (const nlohmann::json& line : lines_of(log))
    seconds[line["key"]].push_back(line["time_ms"].get<std::int64_t>() / 1000 - 1'800'000'000);
  using Times = std::vector<std::int64_t>;
  EXPECT_EQ(seconds["init_start"], Times{0});
  EXPECT_EQ(seconds["init_stop"], Times{15});  // staging is part of the run
  EXPECT_EQ(seconds["run_start"], Times{15});
  EXPECT_EQ(seconds["staging_start"], Times{15});
  EXPECT_EQ(seconds["staging_stop"], Times{20});
  EXPECT_EQ(seconds["epoch_start"], (Times{20, 32, 44}));
  EXPECT_EQ(seconds["epoch_stop"], (Times{30, 42, 54}));
  EXPECT_EQ(seconds["eval_start"], (Times{30, 42, 54}));
  EXPECT_EQ(seconds["eval_stop"], (Times{32, 44, 56}));
  EXPECT_EQ(seconds["run_stop"], Times{56});
}

TEST(MlperfLog, ParametersOfCosmoflow) {
  const std::string log = cosmoflow_log();
  EXPECT_EQ(value_of(log, "submission_benchmark"), "cosmoflow");
  EXPECT_EQ(value_of(log, "submission_org"), "an institute");
  EXPECT_EQ(value_of(log, "opt_name"), "SGD");
  EXPECT_DOUBLE_EQ(value_of(log, "opt_base_learning_rate"), 0.002);  // for 128 samples
  EXPECT_EQ(value_of(log, "opt_learning_rate_warmup_epochs"), 4);
  EXPECT_EQ(value_of(log, "opt_learning_rate_warmup_factor"), 0.25);
  EXPECT_EQ(value_of(log, "opt_learning_rate_decay_boundary_epochs"), (nlohmann::json{32.0, 64.0}));
  EXPECT_EQ(value_of(log, "opt_learning_rate_decay_factor"), (nlohmann::json{0.25, 0.125}));
  EXPECT_EQ(value_of(log, "dropout"), 0.5);
  EXPECT_EQ(value_of(log, "opt_weight_decay"), 0.0001);
  EXPECT_EQ(value_of(log, "global_batch_size"), 128);
  EXPECT_EQ(value_of(log, "number_of_nodes"), 2);
  EXPECT_EQ(value_of(log, "number_of_ranks"), 4);
  EXPECT_EQ(value_of(log, "accelerators_per_node"), 0);
  EXPECT_EQ(log.find("staging"), std::string::npos);
}

TEST(MlperfLog, ParametersOfDeepcam) {
  const std::string log = deepcam_log();
  EXPECT_EQ(value_of(log, "opt_name"), "LAMB");
  EXPECT_EQ(value_of(log, "opt_lr"), 0.001);
  EXPECT_EQ(value_of(log, "opt_betas"), (nlohmann::json{0.9, 0.95}));
  EXPECT_EQ(value_of(log, "opt_eps"), 1e-6);
  EXPECT_EQ(value_of(log, "opt_weight_decay"), 0.01);
  EXPECT_EQ(value_of(log, "opt_bias_correction"), 1);
  EXPECT_EQ(value_of(log, "opt_max_grad_norm"), 1.0);
  EXPECT_EQ(value_of(log, "seed"), 7);
  EXPECT_EQ(value_of(log, "num_workers"), 3);
  EXPECT_EQ(value_of(log, "batchnorm_group_size"), 4);
  EXPECT_EQ(value_of(log, "gradient_accumulation_frequency"), 2);
  EXPECT_EQ(value_of(log, "scheduler_type"), "cosine_annealing");
  EXPECT_EQ(value_of(log, "scheduler_lr_warmup_steps"), 20);
  EXPECT_EQ(value_of(log, "scheduler_lr_warmup_factor"), 2.0);
  EXPECT_EQ(value_of(log, "scheduler_t_max"), 30);
  EXPECT_DOUBLE_EQ(value_of(log, "scheduler_eta_min"), 1e-5);
}

TEST(MlperfLog, DropsInStepsAreMilestones) {
  LoggedRun run(deepcam);
  run.start.recipe.set("rate", Spec("step(every=1, gamma=0.1)"));
  run.start.recipe.set("optimizer", Spec("adamw(lr=0.001, beta1=0.9, beta2=0.999, epsilon=1e-6, weight_decay=0)"));
  run.train("iou", {0.5, 0.7, 0.83}, 3, train::End::Reason::finished);
  const std::string log = run.text();
  EXPECT_EQ(MlperfRules::complaints(log), Strings{}) << log;
  EXPECT_EQ(value_of(log, "scheduler_type"), "multistep");
  EXPECT_EQ(value_of(log, "scheduler_milestones"), (nlohmann::json{10, 20}));
  EXPECT_EQ(value_of(log, "scheduler_decay_rate"), 0.1);
  EXPECT_EQ(log.find("opt_grad_averaging"), std::string::npos);
}

TEST(MlperfLog, StatusFollowsTheTarget) {
  const auto status = [](const std::string& log) { return lines_of(log).back()["metadata"]["status"]; };
  EXPECT_EQ(status(cosmoflow_log(0.124)), "success");
  EXPECT_EQ(status(cosmoflow_log(0.125)), "aborted");
  EXPECT_EQ(status(deepcam_log()), "success");
  EXPECT_EQ(MlperfRules::complaints(cosmoflow_log(0.125)), Strings{});
  LoggedRun stopped(cosmoflow);
  stopped.train("mae", {0.5, 0.2}, 2, train::End::Reason::interrupted);
  EXPECT_EQ(status(stopped.text()), "aborted");
  EXPECT_EQ(MlperfRules::complaints(stopped.text()), Strings{});
}

TEST(MlperfLog, OtherNetworksHaveWhatAllHave) {
  LoggedRun run(
      "model = \"mnist\"\noptimizer = \"adam(lr=0.01, weight_decay=0)\"\n[data]\n[train]\nmetrics = [\"accuracy\"]\n");
  run.job.report.mlperf_organization.clear();
  run.train("accuracy", {0.5, 0.6, 0.7}, 3, train::End::Reason::finished);
  EXPECT_EQ(MlperfRules::complaints(run.text()), Strings{"submission_benchmark: \"mnist\""});
  EXPECT_EQ(lines_of(run.text()).back()["metadata"]["status"], "success");
  EXPECT_EQ(value_of(run.text(), "submission_org"), "not stated");
}

TEST(MlperfLog, WithoutItsMetricABenchmarkIsRefused) {
  LoggedRun run("model = \"cosmoflow\"\n[train]\nmetrics = [\"r2\"]\n");
  EXPECT_THROW(mlperf_log(run.job), UsageError);
}

TEST(MlperfLog, AResumedRunIsOneLog) {
  LoggedRun run(cosmoflow);
  run.train("mae", {0.5, 0.1}, 2, train::End::Reason::interrupted);
  const std::string before = run.text();
  // Its checkpoint is older than the second evaluation, which is repeated.
  run.start.first_step = 17;
  run.now += 1000;
  run.train("mae", {0.5, 0.2, 0.15}, 3, train::End::Reason::finished);
  const std::string log = run.text();
  EXPECT_EQ(MlperfRules::complaints(log), Strings{}) << log;
  EXPECT_TRUE(log.starts_with(before.substr(0, before.find("\"epoch_num\":2"))));
  EXPECT_EQ(lines_of(log).back()["metadata"]["status"], "aborted");  // the target reached earlier no longer counts
  EXPECT_GT(lines_of(log).back()["time_ms"].get<std::int64_t>(), 1'800'001'000'000);
}

TEST(MlperfLog, AResumedRunRemembersThatTheTargetWasReached) {
  LoggedRun run(cosmoflow);
  run.train("mae", {0.1, 0.2}, 2, train::End::Reason::interrupted);
  run.start.first_step = 20;
  run.train("mae", {0.1, 0.2, 0.15}, 3, train::End::Reason::finished);
  EXPECT_EQ(MlperfRules::complaints(run.text()), Strings{}) << run.text();
  EXPECT_EQ(lines_of(run.text()).back()["metadata"]["status"], "success");
}

TEST(MlperfLog, AKilledRunKeepsItsLines) {
  LoggedRun run(cosmoflow);
  const auto sink = mlperf_log(run.job, [&] { return run.now; });
  sink->start(run.start);
  EXPECT_NE(run.text().find("epoch_start"), std::string::npos);
  sink->epoch({1, 10, 0.5, {{"mae", 0.5}}, 10, 2});
  EXPECT_NE(run.text().find("eval_stop"), std::string::npos);
}

// The rules can fail: for a missing line, a repeated line, another order, other values.
TEST(MlperfRules, NoticeDamage) {
  for (const std::string& log : {cosmoflow_log(), deepcam_log()}) {
    Strings lines;
    std::istringstream in(log);
    for (std::string line; std::getline(in, line);) lines.push_back(line + "\n");
    const auto joined = [](const Strings& parts) {
      std::string text;
      for (const std::string& part : parts) text += part;
      return text;
    };
    const std::set<std::string> optional{"number_of_ranks", "train_loss", "num_workers",  "staging_start",
                                         "staging_stop",    "eval_error", "eval_accuracy"};
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string key = nlohmann::json::parse(lines[i].substr(9))["key"];
      const bool only = key != "cache_clear" && key != "init_start" && !optional.contains(key);
      Strings less = lines, more = lines;
      less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
      more.insert(more.begin() + static_cast<std::ptrdiff_t>(i), lines[i]);
      const bool needed = !optional.contains(key) && key != "opt_weight_decay";
      if (needed) {
        EXPECT_NE(MlperfRules::complaints(joined(less)), Strings{}) << "without " << lines[i];
      }
      if (only && needed) {
        EXPECT_NE(MlperfRules::complaints(joined(more)), Strings{}) << "twice " << lines[i];
      }
    }
  }
  const std::string log = cosmoflow_log();
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = log;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return MlperfRules::complaints(text.replace(at, from.size(), to));
  };
  EXPECT_EQ(with("\"SGD\"", "\"SGD\""), Strings{});
  EXPECT_NE(with("\"SGD\"", "\"Adam\""), Strings{});
  EXPECT_NE(with("\"closed\"", "\"half open\""), Strings{});
  EXPECT_NE(with("\"research\"", "\"\""), Strings{});
  EXPECT_NE(with("\"an institute\"", "\"\""), Strings{});
  EXPECT_NE(with("\"status\":\"success\"", "\"status\":\"aborted\""), Strings{});
  EXPECT_NE(with("\"status\":\"success\"", "\"status\":\"maybe\""), Strings{});
  EXPECT_NE(with("\"key\":\"dropout\",\"value\":0.5", "\"key\":\"dropout\",\"value\":1.0"), Strings{});
  EXPECT_NE(with("\"value\":0.1,", "\"value\":0.125,"), Strings{});
  EXPECT_NE(with("INTERVAL_START", "POINT_IN_TIME"), Strings{});
  EXPECT_NE(with(":::MLLOG ", "MLLOG "), Strings{});
  EXPECT_NE(with("\"namespace\":\"\",", ""), Strings{});
  EXPECT_NE(with("\"time_ms\":1800000000000", "\"time_ms\":1900000000000"), Strings{});
  EXPECT_NE(with("\"epoch_num\":2", "\"epoch_num\":3"), Strings{});
}

}  // namespace
}  // namespace isobar::record
