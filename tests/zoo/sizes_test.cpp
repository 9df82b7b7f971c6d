// Every network: its exact number of trained parameters, and its forward arithmetic to the published digits.
#include <set>

#include <gtest/gtest.h>

#include "isobar/zoo/arithmetic.hpp"

#include "tests/zoo/built.hpp"

namespace isobar::zoo {
namespace {

struct Size {
  const char* spec;
  std::int64_t parameters;
  double operations, half_digit;  // forward for one sample; how far rounding may have moved the published number
  friend std::ostream& operator<<(std::ostream& out, const Size& size) { return out << size.spec; }
};

// Published multiply-adds are doubled here. Where nothing is published, the number is our own, computed from the layers
// below the table, and exact.
const Size sizes[] = {
    {"alexnet", 60'965'224, 2 * 724.4e6, 0.1e6},
    {"caffenet", 60'965'224, 2 * 724.4e6, 0.1e6},
    {"cifar10_full", 89'578, 2 * 12.30e6, 0.01e6},
    {"cifar10_quick", 145'578, 2 * 12.35e6, 0.01e6},
    {"climate_detector", 66'528'138, 2 * 319'945'420'800.0, 0},
    {"climate_detector(variant=b)", 67'373'338, 2 * 203'896'258'560.0, 0},
    {"cosmoflow", 8'907'556, 68.86e9, 0.005e9},
    {"cosmoflow_sc18", 7'041'443, 21.3e9, 0.05e9},
    {"deepcam", 56'454'720, 0.655e12, 0.0005e12},
    {"deeplabv3plus", 43'669'251, 4.341e12, 0.0005e12},
    {"deeplabv3plus(batch_norm=true)", 43'718'883, 4.341e12, 0.0005e12},
    {"googlenet", 13'378'280, 2 * 1.591e9, 0.001e9},
    {"googlenet(auxiliary=false)", 6'998'552, 2 * 1.583e9, 0.001e9},
    {"gpt", 842'496, 2 * 121'634'816.0, 0},
    {"gpt2_small", 124'439'808, 2 * 145'824'153'600.0, 0},
    {"hep", 594'178, 5.26e9, 0.005e9},
    {"lenet", 431'080, 2 * 2'293'000.0, 0},
    {"lstm_classifier", 651'864, 2 * 81'929'728.0, 0},
    {"resnet101", 65'375'326, 2 * 7'860'760'576.0, 0},
    {"tiramisu", 7'504'835, 1.396e12, 0.0005e12},
};

class Sizes : public testing::TestWithParam<Size> {};

TEST_P(Sizes, AreAsPublished) {
  const Size& size = GetParam();
  graph::Graph g;
  make_network(size.spec)->build(g, 1);
  EXPECT_EQ(g.parameter_count(), size.parameters);
  EXPECT_NEAR(arithmetic(g), size.operations, size.half_digit);
}

INSTANTIATE_TEST_SUITE_P(Zoo, Sizes, testing::ValuesIn(sizes),
                         [](const auto& of) { return test_name(of.index, of.param.spec); });

TEST(SizeTable, HasEveryNetwork) {
  std::set<std::string> listed;
  for (const Size& size : sizes) listed.insert(Spec(size.spec).name());
  for (const auto* row : networks()) EXPECT_TRUE(listed.contains(std::string(row->name))) << row->name;
}

}  // namespace
}  // namespace isobar::zoo
