// Conformance of all operators: catalogue x problems, through graph, plan and executor. Every operator is placed
// between
// parameters (its inputs, so that they have gradients) and a mean squared error, unless it is a loss itself.
// References and finite differences are in double precision; inputs are distinct and away from zero, so that no
// difference crosses a kink.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "isobar/base/random.hpp"
#include "isobar/base/text.hpp"
#include "isobar/exec/executor.hpp"
#include "isobar/exec/param_store.hpp"
#include "isobar/graph/pass.hpp"
#include "isobar/graph/plan.hpp"
#include "isobar/tensor/initializer.hpp"

#include "tests/ops/reference.hpp"

namespace isobar::ops {
static void PrintTo(const Problem& problem, std::ostream* out) { *out << problem.spec; }
}  // namespace isobar::ops

namespace isobar::exec {
namespace {

using graph::Graph;
using graph::PlanOptions;
using graph::ValueId;
using reference::Array;

// Distinct numbers in (-1, 1), none at zero, in random order; `shift` is in units of their spacing.
Array spread_out(const Shape& shape, std::uint64_t key, double shift = 0) {
  Array a(shape);
  const Random random(99, key);
  std::vector<std::uint64_t> order(a.values.size());
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::ranges::sort(order, {}, [&](std::uint64_t i) { return random.bits(i); });
  const auto count = static_cast<double>(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    double grid = static_cast<double>(order[i]) + 0.5 + shift;
    if (2 * grid == count) grid += 0.25;
    a.values[i] = static_cast<float>(2 * grid / count - 1);
  }
  return a;
}

// Half of `a`, centred at the initial values of a weight.
Array near_start(Array a, const ops::Parameter& parameter) {
  std::vector<float> start(a.values.size());
  initialize(parameter.init, parameter.shape, 0, start);
  for (std::size_t i = 0; i < start.size(); ++i) a.values[i] = static_cast<float>(start[i] + a.values[i] / 2);
  return a;
}

// The same, within the bounds of a problem.
Array spread_between(const ops::Problem& problem, const Shape& shape, std::uint64_t key, double shift = 0) {
  const double middle = (problem.low + problem.high) / 2, half = (problem.high - problem.low) / 2;
  Array a = spread_out(shape, key, shift);
  for (double& v : a.values) v = static_cast<float>(middle + half * v);
  return a;
}

Array whole_numbers(const Shape& shape, const ops::Whole& range) {
  Array a(shape);
  const auto count = static_cast<std::uint64_t>(range.high - range.low);
  for (std::int64_t i = 0; i < shape.count(); ++i)
    a[i] = static_cast<double>(range.low) + static_cast<double>(Random(5).below(static_cast<std::uint64_t>(i), count));
  return a;
}

// One problem as a network, with the numbers it runs on.
struct Network {
  Graph graph{};
  std::vector<std::string> names{};  // of the parameters: inputs x0, x1, ... then the operator's weights
  std::vector<Array> values{};
  std::vector<bool> trained{};
  Array target{}, indices{};  // indices: the last input of an operator that picks by number
  Spec spec{};
  bool is_loss = false, picks = false;

  explicit Network(const ops::Problem& problem, const std::string& before = "", const std::string& after = "")
      : spec(problem.spec) {
    const auto op = ops::make_operator(spec);
    is_loss = op->is_loss();
    const bool whole = problem.last.high > problem.last.low;
    picks = whole && !is_loss;
    const std::size_t data = problem.in.size() - (is_loss || picks ? 1 : 0);
    std::vector<ValueId> in;
    for (std::size_t i = 0; i < data; ++i) {
      const std::string name = fmt::format("x{}", i);
      names.push_back(name);
      values.push_back(spread_between(problem, problem.in[i], i));
      // After a separate node the input is an activation, which kernels may overwrite.
      in.push_back(graph.add("scale(by=1)", graph.parameter(name, {name, problem.in[i]}), "pass_" + name));
      if (!before.empty()) in.back() = graph.add(before, in.back(), "before_" + name);
    }
    if (is_loss) {
      target = whole ? whole_numbers(problem.in[1], problem.last) : spread_between(problem, problem.in[1], 70, 0.25);
      in.push_back(graph.input("target", problem.in[1]));
    }
    if (picks) {
      indices = whole_numbers(problem.in.back(), problem.last);
      in.push_back(graph.input("indices", problem.in.back()));
    }
    ValueId y = all_outputs(graph.add(spec, in, "op"));
    for (const graph::GraphValue& v : graph.values()) {
      if (v.role != graph::GraphValue::Role::parameter || !v.name.starts_with("op.")) continue;
      names.push_back(v.name);
      values.push_back(spread_out(v.shape, 30 + names.size()));
      trained.resize(names.size(), true);
      trained.back() = v.parameter.trained;
      // A statistic stays near its initial value: a variance is positive.
      if (!trained.back()) values.back() = near_start(values.back(), v.parameter);
    }
    trained.resize(names.size(), true);
    if (!after.empty()) y = graph.add(after, y, "after");
    result = y;
    if (!is_loss) {
      target = spread_out(graph.value(y).shape, 70, 0.25);
      y = graph.add("mse", {y, graph.input("target", target.shape)}, "error");
    }
    graph.loss(y);
    const Shape& rows = is_loss ? problem.in[0] : target.shape;
    for (std::int64_t n = 0; n < rows[0]; ++n) samples.push_back(100 + 7 * n);
  }

  // Concatenates several outputs into one row of all their numbers.
  ValueId all_outputs(ValueId first) {
    const std::vector<ValueId> out = graph.nodes().back().out;
    if (out.size() == 1) return first;
    std::vector<ValueId> rows;
    for (const ValueId id : out)
      rows.push_back(graph.add("reshape(whole=[1, -1])", id, fmt::format("row_{}", rows.size())));
    return graph.add("concat", rows, "outputs");
  }

  reference::Context context(bool training = true) const {
    const auto rows = static_cast<std::int64_t>(samples.size());
    return {run().seed, hash_text("op"), run().epoch, samples, rows, run().total, training};
  }
  Run run() const {
    Run r;
    r.seed = 17;
    r.epoch = 2;
    r.samples = samples;
    r.rows = static_cast<std::int64_t>(samples.size());
    r.total = 5;
    return r;
  }

  Array expected(const std::vector<Array>& at, bool training = true) const {
    std::vector<Array> in = at;
    if (is_loss) in.push_back(target);
    if (picks)  // after the other data inputs, before the weights
      in.insert(std::ranges::find_if(names, [](auto& n) { return n.starts_with("op."); }) - names.begin() + in.begin(),
                indices);
    Args args(spec);
    return reference::references().at(spec.name())(args, in, context(training));
  }
  double expected_loss(const std::vector<Array>& at) const {
    const Array y = expected(at);
    if (is_loss) return y[0];
    Args none{Spec("mse")};
    return reference::mse(none, {y, target}, context())[0];
  }

  ValueId result;
  std::vector<std::int64_t> samples{};
};

struct Outcome {
  std::vector<float> y{}, loss{};
  std::vector<std::vector<float>> gradients{};  // plain, in the order of Network::names
  bool operator==(const Outcome&) const = default;
};

Outcome outcome(const Network& network, const PlanOptions& options) {
  ParamStore store(graph::make_plan(network.graph, options), 0);
  Executor executor(graph::make_plan(network.graph, options), store);
  for (std::size_t i = 0; i < network.names.size(); ++i) {
    const int p = store.find(network.names[i]);
    const std::vector<float> plain(network.values[i].values.begin(), network.values[i].values.end());
    store.write_plain(p, plain, store.weight(p));
  }
  executor.poison();
  const std::vector<float> target(network.target.values.begin(), network.target.values.end());
  executor.bind("target", target);
  const std::vector<float> indices(network.indices.values.begin(), network.indices.values.end());
  if (network.picks) executor.bind("indices", indices);
  executor.forward(network.run());
  Outcome got;
  const auto keep = [](std::span<const float> s) { return std::vector<float>(s.begin(), s.end()); };
  got.loss = keep(executor.output("loss"));
  if (network.graph.outputs().contains("y")) got.y = keep(executor.output("y"));
  if (options.phase == ops::Phase::training) {
    executor.backward(network.run());
    for (std::size_t i = 0; i < network.names.size(); ++i) {
      const int p = store.find(network.names[i]);
      got.gradients.emplace_back(network.values[i].values.size());
      store.read_plain(p, store.gradient(p), got.gradients.back());
    }
  }
  EXPECT_EQ(options.share_memory ? "" : join(executor.damaged_guards(), ", "), "");
  return got;
}

void expect_near(std::span<const float> got, std::span<const double> expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  double largest = 1;
  for (const double v : expected) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-5 * largest) << what << " at " << i;
}

void expect_near(const Outcome& a, const Outcome& b, const std::string& what) {
  const auto doubles = [](const std::vector<float>& v) { return std::vector<double>(v.begin(), v.end()); };
  expect_near(a.loss, doubles(b.loss), what + ": loss");
  for (std::size_t i = 0; i < a.gradients.size(); ++i)
    expect_near(a.gradients[i], doubles(b.gradients[i]), fmt::format("{}: gradient {}", what, i));
}

std::vector<std::string> all_passes() {
  std::vector<std::string> names;
  for (const graph::Pass* pass : graph::passes()) names.emplace_back(pass->name);
  return names;
}

class Conformance : public testing::TestWithParam<ops::Problem> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(reference::references().contains(Spec(GetParam().spec).name()))
        << "add a naive reference to tests/ops/reference.hpp";
  }
};

TEST_P(Conformance, ForwardIsTheReference) {
  for (const ops::Phase phase : {ops::Phase::training, ops::Phase::inference}) {
    Network network(GetParam());
    network.graph.output("y", network.result);
    const Array expected = network.expected(network.values, phase == ops::Phase::training);
    EXPECT_EQ(network.graph.value(network.result).shape, expected.shape);
    expect_near(outcome(network, {.phase = phase}).y, expected.values, "y");
  }
}

TEST_P(Conformance, GradientIsThatOfTheReference) {
  const Network network(GetParam());
  const Outcome got = outcome(network, {});
  ASSERT_NEAR(got.loss[0], network.expected_loss(network.values), 1e-5 * std::max(1.0f, got.loss[0]));
  constexpr double h = 1e-6;
  for (std::size_t p = 0; p < network.names.size(); ++p) {
    if (!network.trained[p]) continue;
    const std::vector<float>& gradient = got.gradients[p];
    double size = 0;
    for (const float g : gradient) size += std::abs(g);
    EXPECT_EQ(size > 0, !GetParam().flat) << network.names[p] << " has a gradient";
    // Three random directions through all elements, and four single elements.
    for (std::uint64_t d = 0; d < 7; ++d) {
      const Random random(3, d);
      std::vector<Array> up = network.values, down = network.values;
      const std::uint64_t only = random.below(0, gradient.size());
      double analytic = 0;
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        if (d >= 3 && i != only) continue;
        const double sign = random.bits(i + 1) % 2 ? 1 : -1;
        up[p].values[i] += h * sign;
        down[p].values[i] -= h * sign;
        analytic += sign * gradient[i];
      }
      const double numeric = (network.expected_loss(up) - network.expected_loss(down)) / (2 * h);
      EXPECT_NEAR(analytic, numeric, 1e-5 * size + 1e-7) << network.names[p] << ", direction " << d;
    }
  }
}

// Sharing memory and working in place must not change a bit; without sharing, nothing is written beyond a buffer.
TEST_P(Conformance, MemoryPlanChangesNothing) {
  const Network network(GetParam());
  const Outcome apart = outcome(network, {.share_memory = false, .in_place = false, .guard_bytes = 256});
  EXPECT_TRUE(outcome(network, {}) == apart) << "shared and in place";
  EXPECT_TRUE(outcome(network, {.in_place = false}) == apart) << "shared";
  EXPECT_TRUE(outcome(network, {.share_memory = false, .guard_bytes = 256}) == apart) << "in place";
}

// Passes must not change the result: with every activation after the operator, and before those that select maxima.
TEST_P(Conformance, PassesChangeOnlyRounding) {
  const auto op = ops::make_operator(GetParam().spec);
  if (op->is_loss()) return;
  for (const ops::OperatorRow* row : ops::operators()) {
    if (row->problems.empty()) continue;  // it talks with other ranks
    const std::string activation(row->name);
    const auto made = row->problems.front();
    if (made.spec != activation || made.low != -1) continue;  // needs arguments or special inputs
    const auto function = ops::make_operator(activation)->pointwise();
    if (!function) continue;
    for (const bool behind : {true, false}) {
      const bool applies = behind ? op->absorb(*function) != nullptr : function->increasing && op->selects_maximum();
      if (!applies) continue;
      const Network network(GetParam(), behind ? "" : activation, behind ? activation : "");
      EXPECT_NE(graph::make_plan(network.graph).fingerprint(),
                graph::make_plan(network.graph, {.without = all_passes()}).fingerprint());
      const Outcome plainly = outcome(network, {.without = all_passes()});
      expect_near(outcome(network, {}), plainly, activation);
      EXPECT_TRUE(outcome(network, {}) == outcome(network, {.share_memory = false, .in_place = false}));
    }
  }
}

std::vector<ops::Problem> all_problems() {
  std::vector<ops::Problem> list;
  for (const ops::OperatorRow* row : ops::operators())
    for (const ops::Problem& problem : row->problems) list.push_back(problem);
  return list;
}

// "conv_2x5x6x4_3": the operator, its first input, and a number that makes the name unique.
std::string problem_name(const testing::TestParamInfo<ops::Problem>& info) {
  return fmt::format("{}_{}_{}", Spec(info.param.spec).name(), info.param.in[0].str(), info.index);
}

INSTANTIATE_TEST_SUITE_P(Operators, Conformance, testing::ValuesIn(all_problems()), problem_name);

}  // namespace
}  // namespace isobar::exec
