// Compares losses and gradients with golden files, which PyTorch computed in double precision: every shrunken network
// from three starts, some with dropout, and every problem of every operator. All of them must agree.
#include "tests/onnx/golden.hpp"

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/zoo/built.hpp"

namespace isobar::onnx {
namespace {

void expect_agreement(OracleCase& ours, const ordered_json& start, const std::string& what) {
  for (const std::string& one : disagreements(ours, start)) ADD_FAILURE() << what << ": " << one;
}

class GoldenNetwork : public testing::TestWithParam<zoo::Shrunken> {};

TEST_P(GoldenNetwork, HasPyTorchsLossAndGradients) {
  const std::string name = Spec(GetParam().spec).name();
  const ordered_json file = read_golden("networks", name);
  const ordered_json& golden = golden_case(file, GetParam().spec, name);
  ASSERT_EQ(golden.at("starts").size(), 3u);
  const auto ours = network_case(GetParam());
  for (const ordered_json& start : golden["starts"]) {
    ours->store().initialize(start.at("seed"));
    expect_agreement(*ours, start, fmt::format("start {}", start["seed"].dump()));
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, GoldenNetwork, testing::ValuesIn(oracle_networks()),
                         [](const auto& of) { return zoo::test_name(of.index, of.param.spec); });

class GoldenOperator : public testing::TestWithParam<const ops::OperatorRow*> {};

TEST_P(GoldenOperator, HasPyTorchsOutputsAndGradients) {
  const std::string name(GetParam()->name);
  const ordered_json file = read_golden("operators", name);
  std::size_t compared = 0;
  for (const ops::Problem& problem : GetParam()->problems) {
    if (inexpressible(problem)) continue;
    const std::string title = problem_title(problem);
    expect_agreement(*operator_case(problem), golden_case(file, title, name).at("starts").at(0), title);
    ++compared;
  }
  EXPECT_EQ(file.at("cases").size(), compared) << "the golden file knows problems that are no more";
}

// Those that talk with other ranks have known answers of their own.
std::vector<const ops::OperatorRow*> golden_operators() {
  std::vector<const ops::OperatorRow*> rows;
  for (const ops::OperatorRow* row : ops::operators())
    if (!row->problems.empty()) rows.push_back(row);
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Operators, GoldenOperator, testing::ValuesIn(golden_operators()),
                         [](const auto& of) { return std::string(of.param->name); });

// Going through shrunken rows would not find a network without a row, or a file without a network.
TEST(Golden, EveryNetworkHasAFileWithAllItsRowsAndNoOthers) {
  for (const auto* row : zoo::networks()) {
    const std::string name(row->name);
    const ordered_json file = read_golden("networks", name);
    std::size_t rows = 0;
    for (const zoo::Shrunken& small : oracle_networks()) rows += Spec(small.spec).name() == name;
    EXPECT_GT(rows, 0u) << name << " has no row in tests/zoo/shrunken.hpp";
    EXPECT_EQ(file.at("cases").size(), rows) << name;
  }
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder() / "networks"))
    files += entry.path().extension() == ".json";
  EXPECT_EQ(files, zoo::networks().size());
}

TEST(Golden, ANetworkWithoutAFileIsAnError) {
  const tests::TemporaryFolder empty;
  EXPECT_HAS(tests::error_of([&] { read_golden("networks", "lenet", empty.path()); }), "make golden ONLY=lenet");
  const ordered_json file = read_golden("networks", "lenet");
  EXPECT_HAS(tests::error_of([&] { golden_case(file, "lenet(size=17)", "lenet"); }), "does not know 'lenet(size=17)'");
}

double norm(const std::vector<float>& v) { return summary(v)[0]; }

// Displaced by a thousandth of its norm in a random direction.
void displace(std::vector<float>& g) {
  std::vector<float> noise(g.size());
  for (std::size_t i = 0; i < g.size(); ++i) noise[i] = static_cast<float>(Random(4).normal_pair(i)[0]);
  const double factor = 1e-3 * norm(g) / norm(noise);
  for (std::size_t i = 0; i < g.size(); ++i) g[i] += static_cast<float>(factor * noise[i]);
}

// The comparison can fail: an error of a thousandth of a gradient is detected in every weight of every network, except
// in gradients that are only rounding.
TEST(Golden, AnErrorOfOneThousandthIsSeen) {
  const std::map<std::string, Damage> damages{
      {"a wrong factor",
       [](std::vector<float>& g) {
         for (float& v : g) v *= 1.001f;
       }},
      {"one wrong number",
       [](std::vector<float>& g) { g[Random(3).below(0, g.size())] += static_cast<float>(1e-3 * norm(g)); }},
      {"another direction", displace},
  };
  std::size_t gradients = 0, rounding = 0;
  for (const zoo::Shrunken& small : zoo::shrunken) {
    const std::string name = Spec(small.spec).name();
    const ordered_json file = read_golden("networks", name);
    const ordered_json& start = golden_case(file, small.spec, name).at("starts").at(0);
    const auto ours = network_case(small);
    std::size_t wanted = 0;
    const double whole = norm_of_all(start.at("gradients"));
    for (const auto& [weight, numbers] : start["gradients"].items())
      wanted += numbers[0].get<double>() >= only_rounding * whole;
    for (const auto& [what, damage] : damages) {
      ours->store().initialize(start.at("seed"));  // running statistics too
      EXPECT_EQ(disagreements(*ours, start, damage).size(), wanted) << small.spec << ", " << what;
    }
    gradients += wanted;
    rounding += start["gradients"].size() - wanted;
  }
  EXPECT_GT(gradients, 20 * rounding);
}

// The same from the other side: a golden file whose numbers are off by a thousandth is rejected.
TEST(Golden, AChangedFileIsSeen) {
  const ordered_json file = read_golden("networks", "lenet");
  const zoo::Shrunken* small =
      std::ranges::find_if(zoo::shrunken, [](const zoo::Shrunken& row) { return Spec(row.spec).name() == "lenet"; });
  const ordered_json start = golden_case(file, small->spec, "lenet").at("starts").at(0);
  const auto ours = network_case(*small);
  const auto says = [&](const ordered_json& golden) {
    ours->store().initialize(start.at("seed"));
    return disagreements(*ours, golden).size();
  };
  EXPECT_EQ(says(start), 0u);
  ordered_json changed = start;
  changed["loss"] = start["loss"].get<double>() * 1.001;
  EXPECT_EQ(says(changed), 1u);
  for (const auto& [name, numbers] : start["gradients"].items())
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      changed = start;
      changed["gradients"][name][k] = numbers[k].get<double>() + 1e-3 * numbers[0].get<double>();
      EXPECT_EQ(says(changed), 1u) << name << " " << k;
    }
  changed = start;
  changed["gradients"].erase(changed["gradients"].begin());
  EXPECT_GE(says(changed), 1u) << "a gradient PyTorch does not have";
  changed = start;
  changed["given"]["x"][1] = 0;
  EXPECT_EQ(says(changed), 1u) << "other inputs";
}

}  // namespace
}  // namespace isobar::onnx
