#include "isobar/record/run_record.hpp"

#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "isobar/base/error.hpp"
#include "isobar/record/sinks.hpp"

#include "tests/record/talking_plan.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::record {
namespace {

namespace fs = std::filesystem;

void put(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

constexpr const char* recipe = "model = \"cosmoflow(size=32)\"\noptimizer = \"adam(lr=0.001)\"\n";
constexpr const char* metrics =
    R"({"kind":"step","step":1,"epoch":1,"loss":2.5,"learning_rate":0.1}
{"kind":"step","step":2,"epoch":1,"loss":1.5,"learning_rate":0.1}
{"kind":"epoch","step":2,"epoch":1,"train_loss":2.0,"test":{"loss":1.75,"mae":0.5}}
{"kind":"end","step":2,"reason":"finished","test":{"loss":1.75}}
)";
constexpr const char* timing =
    R"({"kind":"start","step":0,"threads":2,"ranks":4,"nodes":2,"global_batch":8}
{"kind":"step","step":1,"samples":8,"seconds":0.5,"wait_seconds":0.125,"exchange_seconds":0.25,"bytes_sent":64}
{"kind":"step","step":2,"samples":8,"seconds":0.25,"wait_seconds":0,"exchange_seconds":0,"bytes_sent":64}
{"kind":"epoch","step":2,"epoch":1,"train_seconds":0.75,"test_seconds":0.5}
{"kind":"end","step":2,"seconds":1.5,"step_seconds":0.75,"exchange":{"waited_seconds":0.25,"busy_seconds":0.5}}
)";

TEST(RunRecord, HoldsWhatTheFilesSay) {
  const tests::TemporaryFolder folder;
  put(folder.path() / "recipe.toml", recipe);
  put(folder.path() / "metrics.jsonl", metrics);
  put(folder.path() / "timing.jsonl", timing);
  const RunRecord run = read_run(folder.path());
  EXPECT_EQ(run.model(), "cosmoflow(size=32)");
  EXPECT_EQ(run.model_name(), "cosmoflow");
  ASSERT_EQ(run.steps.size(), 2u);
  EXPECT_EQ(run.steps[1].loss, 1.5);
  EXPECT_EQ(run.steps[0].wait_seconds, 0.125);
  ASSERT_EQ(run.epochs.size(), 1u);
  EXPECT_EQ(run.epochs[0].test.at("mae"), 0.5);
  EXPECT_EQ(run.epochs[0].test_seconds, 0.5);
  EXPECT_EQ(run.reason, "finished");
  EXPECT_EQ(run.ranks, 4);
  EXPECT_EQ(run.global_batch, 8);
  ASSERT_EQ(run.sessions.size(), 1u);
  EXPECT_EQ(run.sessions[0].exchange_busy, 0.5);
  EXPECT_FALSE(run.described);
  EXPECT_EQ(run.samples_per_second(), 32);
}

TEST(RunRecord, ReadsFactsProfilesAndPictures) {
  const tests::TemporaryFolder folder;
  put(folder.path() / "recipe.toml", recipe);
  put(folder.path() / "run.json",
      R"({"started":"2026-01-02T03:04:05Z","machine":[["processor","P"]],"peaks":{"flops_per_second":2e11,"how":"h"},
          "plan":{"fingerprint":"00ff","forward_steps":1,"inputs":[["x","4x4"]],"rows":2,
                  "parameters":[{"name":"conv.w","numbers":48,"trained":true},{"name":"mean","numbers":16,"trained":false}],
                  "steps":[{"name":"conv","kernel":"forward","category":"forward convolution","flops":10,"bytes":4,
                            "final":[0,2,-1,"w"]}]}})");
  put(folder.path() / "profile" / "rank1.jsonl",
      R"({"kind":"start","rank":1,"node":0,"host":"b","threads":1}
{"kind":"step","step":2,"seconds":0.5,"totals":{"idle":{"events":1,"seconds":0.125,"flops":0,"bytes":0}}}
{"kind":"step","step":4,"seconds":0.5,"totals":{"idle":{"events":1,"seconds":0.25,"flops":0,"bytes":0}}}
)");
  put(folder.path() / "profile" / "rank0.jsonl", R"({"kind":"start","rank":0,"node":0,"host":"a","threads":1})");
  put(folder.path() / "pictures" / "a.svg", "<svg/>");
  put(folder.path() / "pictures" / "pictures.json",
      R"([{"kind":"scatter","title":"T","caption":"C","file":"a.svg"},{"file":"../recipe.toml"},{"file":"none.png"}])");
  const RunRecord run = read_run(folder.path());
  EXPECT_TRUE(run.described);
  EXPECT_EQ(run.machine.at(0).second, "P");
  EXPECT_EQ(run.peaks.flops_per_second, 2e11);
  ASSERT_EQ(run.plan.size(), 1u);
  EXPECT_EQ(run.plan[0].category, "forward convolution");
  EXPECT_EQ(run.plan[0].final_parameters, std::vector<int>{0}) << "only those there are";
  EXPECT_EQ(run.plan_rows, 2);
  ASSERT_EQ(run.plan_parameters.size(), 2u);
  EXPECT_EQ(run.plan_parameters[0].numbers, 48);
  EXPECT_TRUE(run.plan_parameters[0].trained);
  EXPECT_FALSE(run.plan_parameters[1].trained);
  ASSERT_EQ(run.by_rank.size(), 2u);
  EXPECT_EQ(run.by_rank[1].host, "b");
  EXPECT_EQ(run.totals(run.by_rank[1])[static_cast<std::size_t>(Category::idle)].seconds, 0.375);
  ASSERT_EQ(run.pictures.size(), 1u) << "only files of the folder of pictures";
  EXPECT_EQ(run.pictures[0].title, "T");
}

TEST(RunRecord, KnowsTheMessagesOfTheModel) {
  const TemporaryFolder folder;
  put(folder / "recipe.toml", recipe);
  const graph::Plan plan = talking_plan();
  train::Start start;
  start.folder = folder.path();
  start.ways = 3;
  start.part = "depth 2-3 of 6";
  start.inputs = {{"x", {6, 2}}};
  start.plan = &plan;
  run_facts({})->start(start);
  disk::flush_late_files();
  const RunRecord run = read_run(folder.path());
  EXPECT_EQ(run.ways, 3);
  EXPECT_EQ(run.part, "depth 2-3 of 6");
  EXPECT_EQ(run.inputs, (std::vector<std::pair<std::string, std::string>>{{"x", "6x2"}})) << "those of the whole model";
  ASSERT_EQ(run.messages.size(), 1u);
  EXPECT_EQ(run.messages[0].node, "edges");
  EXPECT_EQ(run.messages[0].circle, "replica");
  EXPECT_EQ(run.messages[0].partners, (std::vector{0, 2}));
  EXPECT_EQ(run.messages[0].sent.messages, 2);
  EXPECT_EQ(run.messages[0].sent.bytes, 24);
  std::string talks;
  for (const PlannedStep& step : run.plan) talks += step.talk.empty() ? "" : step.name + " " + step.talk + ";";
  EXPECT_EQ(talks, "edges start;edges finish;");
}

TEST(RunRecord, FilesCutOffAnywhereAreReadUpToThere) {
  const tests::TemporaryFolder folder;
  put(folder.path() / "recipe.toml", recipe);
  put(folder.path() / "timing.jsonl", timing);
  const std::string whole = metrics;
  std::size_t most = 0;
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    put(folder.path() / "metrics.jsonl", whole.substr(0, length));
    const RunRecord run = read_run(folder.path());
    EXPECT_GE(run.steps.size(), most);
    most = run.steps.size();
    for (const StepRecord& step : run.steps) EXPECT_GT(step.loss, 1);
  }
  EXPECT_EQ(most, 2u);
}

TEST(RunRecord, ReadsTracesAlsoWithoutTheirEnd) {
  const tests::TemporaryFolder folder;
  const std::string text =
      R"([{"name":"process_name","ph":"M","pid":0,"args":{"name":"rank 0"}},
{"name":"step 2","cat":"step","ph":"X","ts":0,"dur":100,"pid":0,"tid":0,"args":{"step":2}},
{"name":"conv","cat":"forward convolution","ph":"X","ts":0,"dur":50,"pid":0,"tid":1,"args":{"step":2,"flops":7,"bytes":8}},
{"name":"sum","cat":"communication","ph":"X","ts":60,"dur":10,"pid":0,"tid":2,"args":{"step":2}}
]
)";
  EXPECT_TRUE(read_trace(folder.path(), 0).empty());
  for (const std::size_t cut : {text.size(), text.size() - 3, text.size() - 10}) {
    put(folder.path() / "trace" / "rank0.json", text.substr(0, cut));
    const std::vector<TraceEvent> events = read_trace(folder.path(), 0);
    ASSERT_EQ(events.size(), cut == text.size() - 10 ? 1u : 2u);
    EXPECT_EQ(events[0].name, "conv");
    EXPECT_EQ(events[0].flops, 7);
    EXPECT_DOUBLE_EQ(events[0].seconds, 50e-6);
    EXPECT_EQ(events.back().lane, events.size() > 1 ? Lane::exchange : Lane::main);
  }
}

TEST(RunRecord, AFolderWithoutARunIsAnError) {
  const tests::TemporaryFolder folder;
  try {
    read_run(folder.path());
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("recipe.toml"), std::string::npos);
  }
}

}  // namespace
}  // namespace isobar::record
