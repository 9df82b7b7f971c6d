// Gradients of whole networks against finite differences of the loss.
//
// For every weight tensor p the loss is measured at w +- e u, u = g_p / |g_p|, where the difference quotient must be
// |g_p|: an error of 1 % in the gradient of one tensor shows as 1 %, however small its part in the whole gradient is.
// Kinks would blur that, so a ReLU is replaced by a tanh and a maximum by a mean; the tests of operators cover those.
// The error from curvature vanishes with e, the error from rounding of the loss grows with 1/e: one of three steps,
// which change the loss by a thousandth down to a twenty-thousandth, must agree.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "isobar/base/text.hpp"
#include "isobar/tensor/initializer.hpp"

#include "tests/zoo/built.hpp"
#include "tests/zoo/shrunken.hpp"
#include "tests/zoo/trial.hpp"

namespace isobar::zoo {
namespace {

constexpr std::int64_t batch = 4;      // enough for normalisation
constexpr double tolerance = 0.005;    // relative
constexpr double resolution = 1.5e-7;  // of the loss

double norm(std::span<const float> v) {
  double sum = 0;
  for (const float x : v) sum += double{x} * x;
  return std::sqrt(sum);
}

// The same network without kinks.
graph::Graph smoothed(const graph::Graph& from) {
  graph::Graph g;
  IdVector<graph::ValueId, graph::ValueId> now(from.values().size());
  for (const graph::ValueId id : now.ids()) {
    const graph::GraphValue& v = from.value(id);
    if (v.role == graph::GraphValue::Role::input) now[id] = g.input(v.name, v.shape);
    if (v.role == graph::GraphValue::Role::parameter) now[id] = g.parameter(v.name, v.parameter);
  }
  for (const graph::Node& node : from.nodes()) {
    std::vector<graph::ValueId> in;
    for (const graph::ValueId id : node.in) in.push_back(now[id]);
    if (node.kind == "relu" || node.kind == "leaky_relu") g.add("tanh", in, node.name);
    else if (node.kind == "max_pool") g.add(Spec("average_pool", node.spec.arguments()), in, node.name);
    else g.add_node(node.name, node.kind, node.op, in);
    for (std::size_t i = 0; i < node.out.size(); ++i) now[node.out[i]] = g.nodes().back().out[i];
  }
  for (const auto& [name, id] : from.outputs()) g.output(name, now[id]);
  return g;
}

// With small weights, the first layers of networks without normalisation have almost no gradient, so these are larger.
void enliven(Trial& trial) {
  const auto normalises = [](const graph::Node& n) { return n.kind == "batch_norm" || n.kind == "layer_norm"; };
  if (std::ranges::any_of(trial.graph().nodes(), normalises)) return;
  exec::ParamStore& store = trial.store();
  for (int p = 0; p < store.count(); ++p) {
    const ops::Parameter& declared = store.parameter(p).declared;
    if (declared.shape.rank() < 2) continue;
    std::vector<float> values(static_cast<std::size_t>(declared.shape.count()));
    initialize("he_normal", declared.shape, static_cast<std::uint64_t>(p), values);
    store.write_plain(p, values, store.weight(p));
  }
}

struct Checked {
  std::vector<std::string> wrong{};
  int sharp = 0;                     // tensors whose quotient is known more precisely than the tolerance
  std::vector<std::string> blunt{};  // the others: their gradient hardly changes the loss
};

// Checks the gradient of one tensor, multiplied by `claimed`.
void check_tensor(Trial& trial, int p, double loss, double claimed, Checked& checked) {
  const auto weight = trial.store().weight(p), gradient = trial.store().gradient(p);
  const std::vector<float> start(weight.begin(), weight.end()), direction(gradient.begin(), gradient.end());
  const double steepness = norm(direction);
  if (steepness == 0) return checked.blunt.push_back(trial.store().parameter(p).name);
  const double largest = 0.1 * std::max(norm(start), 0.5 * std::sqrt(static_cast<double>(start.size())));
  const auto loss_at = [&](double step) {
    for (std::size_t i = 0; i < start.size(); ++i)
      weight[i] = start[i] + static_cast<float>(step / steepness * direction[i]);
    return trial.loss();
  };
  bool agrees = false, is_sharp = false;
  std::string tried;
  for (const double change : {1e-3, 2e-4, 5e-5}) {
    const double step = std::min(change * loss / steepness, largest);
    const double slope = (loss_at(step) - loss_at(-step)) / (2 * step);
    const double noise = resolution * loss / step;
    is_sharp = is_sharp || noise < tolerance * steepness;
    agrees = std::abs(slope - claimed * steepness) <= tolerance * steepness + noise;
    tried += fmt::format(" {:.6g}", slope);
    if (agrees) break;
  }
  std::copy(start.begin(), start.end(), weight.begin());
  const std::string& name = trial.store().parameter(p).name;
  if (!is_sharp) checked.blunt.push_back(name);
  else ++checked.sharp;
  if (!agrees)
    checked.wrong.push_back(fmt::format("{}: gradient {:.6g}, quotients{}", name, claimed * steepness, tried));
}

// Checks every trained tensor of a network.
Checked check_gradients(const Shrunken& small, double claimed = 1) {
  Trial trial(smoothed(built(small.spec, batch)), make_network(small.spec)->loss(), small.tokens);
  enliven(trial);
  const double loss = trial.backward();
  Checked checked;
  for (int p = 0; p < trial.store().count(); ++p)
    if (trial.store().parameter(p).declared.trained) check_tensor(trial, p, loss, claimed, checked);
  return checked;
}

class Gradients : public testing::TestWithParam<Shrunken> {};

TEST_P(Gradients, AgreeWithFiniteDifferences) {
  const Checked checked = check_gradients(GetParam());
  for (const std::string& wrong : checked.wrong) ADD_FAILURE() << wrong;
  EXPECT_GT(checked.sharp, 4 * static_cast<int>(checked.blunt.size()))
      << "known too roughly: " << join(checked.blunt, ", ");
}

INSTANTIATE_TEST_SUITE_P(Zoo, Gradients, testing::ValuesIn(shrunken),
                         [](const auto& of) { return test_name(of.index, of.param.spec); });

// The check can fail, shown on quick networks of each kind.
TEST(GradientCheck, NoticesAnErrorOfOneHundredth) {
  for (const Shrunken& small : shrunken) {
    const std::string name = Spec(small.spec).name();
    if (name != "cifar10_full" && name != "gpt" && name != "hep" && name != "lstm_classifier") continue;
    const Checked checked = check_gradients(small, 1.01);
    EXPECT_GT(static_cast<int>(checked.wrong.size()), checked.sharp / 2) << small.spec;
  }
}

}  // namespace
}  // namespace isobar::zoo
