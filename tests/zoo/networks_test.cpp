// Every network, shrunken: it plans for both phases, rejects bad sizes, and a training step lowers its loss.
#include <set>

#include <gtest/gtest.h>

#include "isobar/graph/plan.hpp"

#include "tests/zoo/built.hpp"
#include "tests/zoo/shrunken.hpp"
#include "tests/zoo/trial.hpp"

namespace isobar::zoo {
namespace {

TEST(Networks, AllHaveAShrunkenForm) {
  std::set<std::string> listed;
  for (const Shrunken& small : shrunken) listed.insert(Spec(small.spec).name());
  for (const auto* row : networks()) EXPECT_TRUE(listed.contains(std::string(row->name))) << row->name;
}

class SmallNetwork : public testing::TestWithParam<Shrunken> {};

TEST_P(SmallNetwork, PlansForTrainingAndInference) {
  const graph::Graph g = built(GetParam().spec, shrunken_batch);
  graph::verify(g);
  const graph::Plan training = graph::make_plan(g), inference = graph::make_plan(g, {.phase = ops::Phase::inference});
  EXPECT_GT(training.steps.size(), training.forward_steps);
  EXPECT_EQ(inference.steps.size(), inference.forward_steps);
  EXPECT_EQ(training.parameter_count(), g.parameter_count());
}

// A step downhill that would reduce the loss by a twentieth if the loss were linear.
TEST_P(SmallNetwork, LowersItsLossInOneStep) {
  Trial trial(GetParam().spec, shrunken_batch, GetParam().tokens);
  const double before = trial.backward();
  ASSERT_TRUE(std::isfinite(before) && before > 0) << before;
  exec::ParamStore& store = trial.store();
  double steepness = 0;
  for (const float g : store.all_gradients()) steepness += double{g} * g;
  ASSERT_GT(steepness, 0);
  const double rate = before / 20 / steepness;
  for (int p = 0; p < store.count(); ++p) {
    if (!store.parameter(p).declared.trained) continue;
    const auto weight = store.weight(p), gradient = store.gradient(p);
    for (std::size_t i = 0; i < weight.size(); ++i) weight[i] -= static_cast<float>(rate * gradient[i]);
  }
  const double after = trial.loss();
  EXPECT_LT(after, before);
  EXPECT_GT(after, 0.8 * before) << "more than the gradient promises";
}

INSTANTIATE_TEST_SUITE_P(Zoo, SmallNetwork, testing::ValuesIn(shrunken),
                         [](const auto& of) { return test_name(of.index, of.param.spec); });

// A wrong call and a part of the error message.
TEST(Networks, RefuseWhatDoesNotFit) {
  const std::pair<const char*, const char*> wrong[] = {
      {"alexnet(size=54)", "size must be at least 55"},
      {"caffenet(classes=1)", "classes at least 2"},
      {"cifar10_full(size=11)", "size must be at least 12"},
      {"cifar10_quick(scale=0)", "scale multiplies the channels"},
      {"climate_detector(width=1100)", "multiples of 64"},
      {"climate_detector(variant=b, height=100)", "multiples of 32"},
      {"climate_detector(variant=c)", "variant"},
      {"climate_detector(lambda=-1)", "lambda"},
      {"cosmoflow(size=33)", "size must be a multiple of 32"},
      {"cosmoflow_sc18(size=64)", "at least 112"},
      {"deepcam(height=24)", "multiples of 16"},
      {"deepcam(middle=0)", "middle"},
      {"deeplabv3plus(width=12)", "multiples of 8"},
      {"deeplabv3plus(units=[3, 4])", "units must be 4 numbers"},
      {"googlenet(size=78)", "at least 79 with auxiliary"},
      {"googlenet(size=46, auxiliary=false)", "at least 47"},
      {"gpt(heads=3)", "3 does not divide 128"},
      {"gpt2_small(vocabulary=1)", "vocabulary at least 2"},
      {"hep(size=200)", "multiple of 16"},
      {"lenet(size=14)", "multiple of 4 and at least 16"},
      {"lstm_classifier(train_embedding=true)", "needs a vocabulary"},
      {"resnet101(units=[1, 0, 1, 1])", "at least 1 unit"},
      {"tiramisu(height=40)", "multiples of 16"},
      {"tiramisu(blocks=3)", "blocks must be 2 to 10 numbers"},
      {"cosmoflow(sise=32)", "size"},
      {"cosmofow", "cosmoflow"},
  };
  std::set<std::string> listed;
  for (const auto& [spec, answer] : wrong) {
    listed.insert(Spec(spec).name());
    try {
      make_network(spec);
      ADD_FAILURE() << spec << " was accepted";
    } catch (const UsageError& e) {
      EXPECT_NE(std::string(e.what()).find(answer), std::string::npos) << e.what();
    }
  }
  for (const auto* row : networks()) EXPECT_TRUE(listed.contains(std::string(row->name))) << row->name;
}

TEST(Networks, BuildAtTheirSmallestSizes) {
  for (const char* spec :
       {"alexnet(size=55)", "caffenet(size=55)", "cifar10_full(size=12)", "cifar10_quick(size=12)",
        "climate_detector(height=64, width=64)", "climate_detector(variant=b, height=32, width=32)",
        "cosmoflow_sc18(size=112)", "cosmoflow_sc18(size=16, padding=same)", "deepcam(height=16, width=16)",
        "deeplabv3plus(height=8, width=8)", "googlenet(size=79)", "googlenet(size=47, auxiliary=false)", "hep(size=16)",
        "lenet(size=16)", "resnet101(size=32)", "tiramisu(height=16, width=16)"})
    EXPECT_NO_THROW(built(spec)) << spec;
}

TEST(Networks, TrainWithAnotherLossOnRequest) {
  const auto network = make_network("cosmoflow(size=32)");
  EXPECT_EQ(training_graph(*network, 1, "mae").nodes().back().kind, "mae");
  EXPECT_THROW(training_graph(*network, 1, "relu"), Error);
}

}  // namespace
}  // namespace isobar::zoo
