#include "isobar/train/same_run.hpp"

#include <gtest/gtest.h>

#include "isobar/base/instructions.hpp"
#include "isobar/tensor/engine.hpp"

#include "tests/train/small_job.hpp"

namespace isobar::train {
namespace {

TEST(SameRun, ComparesEveryKeyEverySampleEveryLayer) {
  const Job job = small_job("runs/x");
  const graph::Plan plan = graph::make_plan(job.model.graph(4));
  std::vector<Fact> facts = facts_of(job);
  for (const Fact& fact : facts_of(plan)) facts.push_back(fact);
  const auto value = [&](const std::string& name) {
    for (const Fact& fact : facts)
      if (fact.name == name) return fact.value;
    return "no " + name;
  };
  EXPECT_EQ(value("recipe key 'data.batch'"), "4");
  EXPECT_EQ(value("recipe key 'train.epochs'"), "3");
  EXPECT_EQ(value("recipe key 'seed'"), "5");
  EXPECT_NE(value("recipe key 'optimizer'").find("lr=0.01"), std::string::npos) << value("recipe key 'optimizer'");
  EXPECT_EQ(value("the level of instructions (ISOBAR_INSTRUCTIONS caps it)"), name_of(instructions()));
  EXPECT_EQ(value("what oneDNN uses of the processor"), isa_choice().name);
  EXPECT_EQ(value("--resume"), "not given");
  EXPECT_EQ(value("the number of samples in data.train"), "22");
  EXPECT_EQ(value("the number of samples in data.test"), "10");
  EXPECT_NE(value("layer 'fc1' of the plan").find("4x8"), std::string::npos) << value("layer 'fc1' of the plan");
  EXPECT_NE(value("layer 'fc2.w' of the plan").find("weight 3x8"), std::string::npos)
      << value("layer 'fc2.w' of the plan");
}

}  // namespace
}  // namespace isobar::train
