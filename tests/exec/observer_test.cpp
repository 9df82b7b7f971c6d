#include "isobar/exec/observer.hpp"

#include <gtest/gtest.h>

#include "isobar/exec/executor.hpp"

namespace isobar::exec {
namespace {

class Recorder final : public Observer {
 public:
  void before(const graph::PlanStep& step, const std::vector<Seen>& reads) override {
    names.push_back("before " + step.name);
    read = reads.empty() ? 0 : reads[0].numbers[0];
    rows = reads.empty() ? -1 : reads[0].rows;
  }
  void after(const graph::PlanStep& step, const std::vector<Seen>& writes) override {
    names.push_back("after " + step.name);
    for (const Seen& seen : writes) {
      lengths[seen.buffer->name] = seen.numbers.size();
      values[seen.buffer->name] = seen.numbers.empty() ? 0 : seen.numbers[0];
    }
  }

  std::vector<std::string> names;
  std::map<std::string, std::size_t> lengths;
  std::map<std::string, float> values;
  float read = 0;
  std::int64_t rows = 0;
};

TEST(Observers, SeeWhatEveryStepReadsAndWritesOfTheRowsInUse) {
  graph::Graph g;
  const graph::ValueId x = g.input("x", {4, 2});
  const graph::ValueId y = g.add("dense(units=1, bias=false, init=constant(value=0.5))", x, "fc");
  g.output("prediction", y);
  g.loss(g.add("mse", {y, g.input("y", {4, 1})}, "loss"));
  const graph::Plan plan = graph::make_plan(g);
  ParamStore store(plan, 0);
  store.initialize(1);
  Executor executor(plan, store);
  const std::vector<float> xs{2, 4, 1, 1, 0, 0, 0, 0}, ys(4);
  const std::vector<std::int64_t> samples{7, 8};
  executor.bind("x", xs);
  executor.bind("y", ys);
  const exec::Run run{.samples = samples, .rows = 2};
  Recorder recorder;
  executor.observe(&recorder);
  executor.forward(run);
  ASSERT_EQ(recorder.names.size(), 2 * plan.forward_steps);
  EXPECT_EQ(recorder.names[0], "before fc");
  EXPECT_EQ(recorder.names[1], "after fc");
  EXPECT_EQ(recorder.lengths.at("fc"), 2u);  // two of four rows hold samples
  EXPECT_EQ(recorder.values.at("fc"), 3.0f);
  EXPECT_EQ(recorder.rows, 2);
  executor.backward(run);
  EXPECT_EQ(recorder.names.size(), 2 * plan.steps.size());
  EXPECT_EQ(recorder.values.count("d fc.w"), 1u);
  EXPECT_EQ(recorder.lengths.at("d fc.w"), store.gradient(0).size());  // a gradient has no rows
  executor.observe(nullptr);
  executor.forward(run);
  EXPECT_EQ(recorder.names.size(), 2 * plan.steps.size());
}

}  // namespace
}  // namespace isobar::exec
