#include "isobar/forecast/workload_of_run.hpp"

#include <fstream>

#include <nlohmann/json.hpp>

#include "isobar/graph/plan.hpp"
#include "isobar/tensor/layout.hpp"
#include "isobar/zoo/network.hpp"

#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::forecast {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* model = "hep(size=32, filters=8, layers=3)";

// A run of the model on two samples whose n-th kernel took n microseconds, and every update one.
class MadeRun {
 public:
  explicit MadeRun(bool older = false) {
    const auto network = zoo::make_network(model);
    plan_ = graph::make_plan(zoo::training_graph(*network, 2));
    std::ofstream(folder_ / "recipe.toml") << "model = \"" << model << "\"\n";
    Json steps = Json::array(), parameters = Json::array();
    for (const graph::PlanStep& s : plan_.steps) {
      steps.push_back({{"name", s.name}, {"kernel", s.kernel}, {"flops", s.flops}, {"bytes", s.bytes}});
      steps.back()["category"] = category_name(s.category);
      if (!older) steps.back()["final"] = plain_numbers(s.final_parameters);
    }
    for (const graph::PlanParameter& p : plan_.parameters)
      parameters.push_back({{"name", p.name}, {"numbers", padded_count(p.layout)}, {"trained", p.declared.trained}});
    facts_ = {{"ranks", 1}, {"flops_per_sample", plan_.flops() / 2}};
    facts_["plan"] = {{"forward_steps", plan_.forward_steps}, {"steps", steps}};
    facts_["plan"]["inputs"] = Json::parse(R"([["x", "32x32x3"], ["y", "1"]])");
    if (!older) facts_["plan"]["rows"] = 2, facts_["plan"]["parameters"] = parameters;
    write();
    fs::create_directories(folder_ / "trace");
    std::ofstream trace(folder_ / "trace/rank0.json");
    trace << "[\n{}";
    for (const int step : {2, 5}) {
      for (const graph::StepId k : plan_.steps.ids())
        if (const graph::PlanStep& s = plan_.steps[k]; s.flops > 0 || s.bytes > 0)
          put(trace, step, s.name + " " + s.kernel, category_name(s.category), k.number() + 1);
      for (const graph::PlanParameter& p : plan_.parameters) put(trace, step, p.name + " update", "optimizer", 1);
    }
    trace << "\n]\n";
  }

  const fs::path& path() const { return folder_.path(); }
  const graph::Plan& plan() const { return plan_; }
  Json& facts() { return facts_; }
  void write() { std::ofstream(folder_ / "run.json") << facts_.dump(); }

 private:
  static void put(std::ofstream& out, int step, const std::string& name, std::string_view category, double micros) {
    out << ",\n"
        << Json{{"name", name},  {"cat", category}, {"ph", "X"}, {"ts", 0},
                {"dur", micros}, {"pid", 0},        {"tid", 1},  {"args", {{"step", step}}}}
               .dump();
  }

  tests::TemporaryFolder folder_;
  graph::Plan plan_;
  Json facts_;
};

double expected_micros(const graph::Plan& plan, std::size_t last) {
  double sum = 0;
  for (const graph::StepId k : ids(graph::StepId(0), graph::StepId(last)))
    if (plan.steps[k].flops > 0 || plan.steps[k].bytes > 0) sum += k.number() + 1;
  return sum;
}

TEST(WorkloadOfRun, HasTheTimesOfTheTrace) {
  const MadeRun run;
  for (const fs::path& named : {run.path(), run.path() / "trace", run.path() / "trace/"}) {
    const sim::Workload w = workload_of_run(named);
    EXPECT_EQ(w.name, model);
    EXPECT_EQ(w.batch, 2);
    EXPECT_NEAR(w.flops, run.plan().flops(), 1);
    EXPECT_EQ(w.sample_bytes, 32 * 32 * 3 * 4.0);
    ASSERT_EQ(w.forward.size(), 1u);
    EXPECT_NEAR(w.forward[0].seconds, 1e-6 * expected_micros(run.plan(), run.plan().forward_steps), 1e-12);
    EXPECT_NEAR(w.compute_seconds(),
                1e-6 * (expected_micros(run.plan(), run.plan().steps.size()) +
                        static_cast<double>(run.plan().parameters.size())),
                1e-12);
    EXPECT_EQ(w.gradient_numbers(), run.plan().weight_bytes() / 4);
  }
}

TEST(WorkloadOfRun, OlderRunsArePlannedAnew) {
  const MadeRun now, older(true);
  const sim::Workload a = workload_of_run(now.path()), b = workload_of_run(older.path());
  EXPECT_EQ(a.batch, b.batch);
  ASSERT_EQ(a.backward.size(), b.backward.size());
  for (std::size_t s = 0; s < a.backward.size(); ++s)
    EXPECT_EQ(a.backward[s].final_parameters, b.backward[s].final_parameters);
  EXPECT_EQ(a.gradient_numbers(), b.gradient_numbers());
}

TEST(WorkloadOfRun, WhatDoesNotFitIsAnError) {
  MadeRun run(true);
  run.facts()["plan"]["steps"][1]["name"] = "other";
  run.write();
  const std::string other = tests::error_of([&] { workload_of_run(run.path()); });
  EXPECT_HAS(other, "run.json: kernel 2 is 'other");
  EXPECT_HAS(other, run.plan().steps[graph::StepId(1)].name);

  MadeRun unknown(true);
  std::ofstream(unknown.path() / "recipe.toml") << "model = \"onnx(file='a.onnx')\"\n";
  EXPECT_HAS(tests::error_of([&] { workload_of_run(unknown.path()); }), "not a network of the zoo");

  MadeRun changed;
  changed.facts()["plan"]["steps"].erase(0);
  changed.write();
  EXPECT_HAS(tests::error_of([&] { workload_of_run(changed.path()); }), "comes from another plan");

  MadeRun renamed;
  renamed.facts()["plan"]["parameters"][0]["name"] = "nobody";
  renamed.write();
  EXPECT_HAS(tests::error_of([&] { workload_of_run(renamed.path()); }), "'nobody' of the plan in run.json is never");
}

TEST(WorkloadOfRun, WhatIsMissingIsAnError) {
  const MadeRun run;
  fs::remove(run.path() / "trace/rank0.json");
  EXPECT_HAS(tests::error_of([&] { workload_of_run(run.path()); }), "rank0.json: is missing");
  std::ofstream(run.path() / "trace/rank0.json") << "[\n]\n";
  EXPECT_HAS(tests::error_of([&] { workload_of_run(run.path()); }), "no step was traced");
  fs::remove(run.path() / "run.json");
  EXPECT_HAS(tests::error_of([&] { workload_of_run(run.path()); }), "run.json: is missing or damaged");
  fs::remove(run.path() / "recipe.toml");
  EXPECT_HAS(tests::error_of([&] { workload_of_run(run.path()); }), "neither the folder of a run nor its trace/");
  EXPECT_HAS(tests::error_of([&] { workload_of_run(run.path() / "nowhere"); }), "there is no");
}

TEST(WorkloadOfRun, IsScaledToAnotherRank) {
  const MadeRun run;
  const sim::Workload w = workload_of_run(run.path());
  const double rate = sustained_rate(w);
  EXPECT_DOUBLE_EQ(rate, w.flops / w.compute_seconds());
  EXPECT_NEAR(on_another_rank(w, 4 * rate).compute_seconds(), w.compute_seconds() / 4, 1e-12);
  EXPECT_NEAR(on_another_rank(w, 4 * rate, 2 * rate).compute_seconds(), w.compute_seconds() / 2, 1e-12);
  EXPECT_HAS(tests::error_of([&] { on_another_rank(w, 0); }), "sustains 0 FLOP/s");
}

}  // namespace
}  // namespace isobar::forecast
