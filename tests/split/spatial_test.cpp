// Spatial cuts: any number of slabs computes what the whole network does, to rounding: loss, prediction, all gradients
// and running statistics.
#include <gtest/gtest.h>

#include "tests/one_thread.hpp"
#include "tests/split/cut_run.hpp"

namespace isobar::split {
namespace {

struct SpatialCase {
  const char* network;
  const char* split;
  std::int64_t batch = 2;
  friend std::ostream& operator<<(std::ostream& out, const SpatialCase& c) {
    return out << c.split << " of " << c.network;
  }
};

class SpatialCut : public testing::TestWithParam<SpatialCase> {};

TEST_P(SpatialCut, ComputesTheWholeNetwork) {
  const OneThread one;
  const CutCase c{.network = GetParam().network, .batch = GetParam().batch};
  const PassResult whole = run_whole(c), cut = run_cut(c, GetParam().split);
  EXPECT_NEAR(cut.loss, whole.loss, 2e-6 * std::abs(whole.loss));
  EXPECT_LT(distance(whole.gradients, cut.gradients), 5e-5);
  EXPECT_LT(distance(whole.statistics, cut.statistics), 1e-5);
  EXPECT_LT(distance({{"", whole.prediction}}, {{"", cut.prediction}}), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(
    Networks, SpatialCut,
    testing::Values(
        SpatialCase{"cosmoflow(size=16, channels=2, width=4, layers=3, dropout=0)", "spatial(depth=2)"},
        SpatialCase{"cosmoflow(size=16, channels=2, width=4, layers=3, dropout=0.5)", "spatial(height=3)"},
        SpatialCase{"cosmoflow(size=16, channels=2, width=4, layers=3, dropout=0)", "spatial(width=4)"},
        SpatialCase{"cosmoflow_sc18(size=16, padding=same, scale=0.125, dropout=0)", "spatial(depth=2)"},
        SpatialCase{"cosmoflow_sc18(size=16, padding=same, scale=0.125, dropout=0)", "spatial(depth=3)"},
        SpatialCase{"hep(size=16, filters=8, layers=4, dropout=0)", "spatial(height=2)"},
        SpatialCase{"lenet(size=16, scale=0.2)", "spatial(height=2)"},
        SpatialCase{"cifar10_full(size=12, classes=4, scale=0.25)", "spatial(height=3)"},
        SpatialCase{"deepcam(height=32, width=48, channels=3, scale=0.125, middle=1)", "spatial(height=2)"},
        SpatialCase{"deepcam(height=32, width=48, channels=3, scale=0.125, middle=1)", "spatial(width=3)"},
        SpatialCase{
            "tiramisu(height=32, width=48, channels=3, filters=8, growth=4, kernel=3, blocks=[2, 1, 2], dropout=0)",
            "spatial(height=2)"},
        SpatialCase{
            "tiramisu(height=32, width=48, channels=3, filters=8, growth=4, kernel=3, blocks=[2, 1, 2], dropout=0.2)",
            "spatial(height=4)"},
        SpatialCase{"deeplabv3plus(height=32, width=48, channels=3, scale=0.0625, units=[2, 1, 1, 1], batch_norm=true)",
                    "spatial(height=2)", 6},
        SpatialCase{"resnet101(size=64, classes=6, scale=0.0625, units=[2, 1, 1, 1])", "spatial(height=2)"},
        SpatialCase{"climate_detector(variant=b, height=64, width=96, channels=3, scale=0.03125)", "spatial(width=2)"},
        SpatialCase{"googlenet(size=79, classes=5, scale=0.125, dropout=0, auxiliary_dropout=0)", "spatial(height=2)"},
        SpatialCase{"alexnet(size=55, classes=5, scale=0.0625, dropout=0)", "spatial(width=2)"}),
    [](const auto& test) { return fmt::format("{}_{}", test.index, Spec(test.param.network).name()); });

// A layer of kernel 3 sends one row of its input across each cut, forward and back; the first reads its rows from the
// file, and what is gathered in the end travels forward only.
TEST(SpatialCutOf, ALayerSendsOneRowForEachNeighbour) {
  const OneThread one;
  const std::int64_t samples = 2, bytes = sizeof(float);
  const CutCase c{.network = "cosmoflow(size=16, channels=2, width=4, layers=3, dropout=0)", .batch = samples};
  const std::int64_t second = 8 * 8 * 4, third = 4 * 4 * 8, gathered = 2 * 2 * 16;  // numbers in a row
  const comm::Traffic sent = run_cut(c, "spatial(depth=2)").cost.traffic;
  EXPECT_EQ(sent.bytes, 2 * samples * bytes * (2 * (second + third) + gathered));
  EXPECT_EQ(sent.messages, 2 * (2 * 2 + 1));
}

}  // namespace
}  // namespace isobar::split
