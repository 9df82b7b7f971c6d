// Every network, shrunken, with every operator that can be cut along an axis replaced by two parts, which read slices
// of the same values and whose results are joined: losses and gradients stay the same. Batch norm takes its statistics
// over all parts, so it stays whole here.
#include <set>

#include <gtest/gtest.h>

#include "isobar/graph/plan.hpp"

#include "tests/one_thread.hpp"
#include "tests/zoo/shrunken.hpp"
#include "tests/zoo/trial.hpp"

namespace isobar::zoo {
namespace {

using graph::Graph;
using graph::GraphValue;
using graph::Node;
using graph::ValueId;

class Cutter {
 public:
  Cutter(const Graph& from, int axis) : from_(from), axis_(axis), map_(from.values().size()) {
    for (const ValueId id : from.values().ids()) {
      const GraphValue& value = from.value(id);
      if (value.role == GraphValue::Role::input) map_[id] = to_.input(value.name, value.shape);
      if (value.role == GraphValue::Role::parameter) map_[id] = to_.parameter(value.name, value.parameter);
    }
    for (const Node& node : from.nodes())
      if (!cut(node)) keep(node);
    for (const auto& [name, id] : from.outputs()) to_.output(name, map_[id]);
  }

  const Graph& graph() const { return to_; }
  /// The operators that are still whole, by name.
  const std::set<std::string>& kept() const { return kept_; }

 private:
  void keep(const Node& node) {
    std::vector<ValueId> in;
    for (const ValueId id : node.in) in.push_back(map_[id]);
    to_.add_node(node.name, node.kind, node.op, in, node.spec);
    take(node);
    kept_.insert(node.kind);
  }

  // The outputs of the node just added are those of `node`.
  void take(const Node& node) {
    for (std::size_t i = 0; i < node.out.size(); ++i) map_[node.out[i]] = to_.nodes().back().out[i];
  }

  bool cut(const Node& node) {
    std::vector<Shape> in;
    for (const ValueId id : node.in) in.push_back(from_.value(id).shape);
    const Shape& y = node.op->is_loss() ? in[0] : from_.value(node.out[0]).shape;
    if (axis_ >= y.rank() || y[axis_] < 2 || node.out.size() > 1) return false;
    const std::optional<ops::Reach> reach = node.op->reach(axis_, in);
    if (!reach || reach->statistics || reach->divisor) return false;
    const std::int64_t middle = (y[axis_] + 1) / 2;
    std::vector<ValueId> parts;
    for (const ops::Interval out : {ops::Interval{0, middle}, ops::Interval{middle, y[axis_]}}) {
      const ops::OperatorPart part = ops::cut_operator(node.op, axis_, out, in);
      std::vector<ValueId> reads;
      for (std::size_t i = 0; i < in.size(); ++i) reads.push_back(read(map_[node.in[i]], *reach, i, part.crop.read[i]));
      parts.push_back(
          to_.add_node(fmt::format("{}.part{}_{}", node.name, axis_, parts.size()), node.kind, part.op, reads));
    }
    to_.add(reach->summed ? Spec("add") : Spec(fmt::format("concat(axis={})", axis_)), parts, node.name);
    take(node);
    return true;
  }

  ValueId read(ValueId x, const ops::Reach& reach, std::size_t i, ops::Interval part) {
    const int axis = reach.in[i].axis;
    if (axis < 0) return x;
    const Spec slice(fmt::format("slice(axes=[{}], begin=[{}], end=[{}])", axis, part.begin, part.end));
    return to_.add(slice, x, fmt::format("read{}_{}", axis_, slices_++));
  }

  const Graph& from_;
  int axis_, slices_ = 0;
  Graph to_;
  IdVector<ValueId, ValueId> map_;
  std::set<std::string> kept_;
};

// Of any weight. What a bias before a batch normalisation gets is zero but for rounding: it can only be compared with
// the gradients around it.
float largest_gradient(Trial& trial) {
  float largest = 1e-3f;
  for (int p = 0; p < trial.store().count(); ++p)
    if (trial.store().parameter(p).declared.trained)
      for (const float g : trial.plain(p, trial.store().gradient(p))) largest = std::max(largest, std::abs(g));
  return largest;
}

void expect_same(Trial& got, Trial& expected, const std::string& what) {
  for (int p = 0; p < expected.store().count(); ++p) {
    const int q = got.store().find(expected.store().parameter(p).name);
    got.store().write_plain(q, expected.plain(p, expected.store().weight(p)), got.store().weight(q));
  }
  const double loss = expected.backward();
  EXPECT_NEAR(got.backward(), loss, 1e-5 * std::max(1.0, std::abs(loss))) << what;
  const float least = std::max(1e-3f, 1e-2f * largest_gradient(expected));
  for (int p = 0; p < expected.store().count(); ++p) {
    const graph::PlanParameter& parameter = expected.store().parameter(p);
    if (!parameter.declared.trained) continue;
    const int q = got.store().find(parameter.name);
    const std::vector<float> is = got.plain(q, got.store().gradient(q));
    const std::vector<float> wanted = expected.plain(p, expected.store().gradient(p));
    float largest = least;
    for (const float g : wanted) largest = std::max(largest, std::abs(g));
    for (std::size_t i = 0; i < wanted.size(); ++i)
      ASSERT_NEAR(is[i], wanted[i], 1e-3f * largest) << what << ": gradient of " << parameter.name << " at " << i;
  }
}

class CutNetwork : public testing::TestWithParam<Shrunken> {
 private:
  OneThread one_thread_;
};

TEST_P(CutNetwork, PartsOfItsOperatorsComputeTheSame) {
  const Shrunken& row = GetParam();
  const auto network = make_network(row.spec);
  const Graph whole = training_graph(*network, shrunken_batch);
  Trial expected(whole, network->loss(), row.tokens);
  const Cutter once(whole, 1), twice(once.graph(), 2);
  Trial parts(once.graph(), network->loss(), row.tokens);
  expect_same(parts, expected, "one axis");
  Trial grid(twice.graph(), network->loss(), row.tokens);
  expect_same(grid, expected, "two axes");
}

INSTANTIATE_TEST_SUITE_P(Zoo, CutNetwork, testing::ValuesIn(shrunken), [](const auto& row) {
  return fmt::format("{:02}_{}", row.index, Spec(row.param.spec).name());
});

// Networks for volumes and images can be cut from their input to their dense layers, or to their loss.
TEST(CutNetworks, OnlyDenseLayersAndStatisticsNeedTheWhole) {
  const auto kept = [](const char* spec) {
    const Graph whole = training_graph(*make_network(spec), 1);
    return Cutter(whole, 1).kept();
  };
  using Names = std::set<std::string>;
  EXPECT_EQ(kept("cosmoflow(size=64)"), (Names{"dense", "flatten"}));
  EXPECT_EQ(kept("tiramisu(height=64, width=96)"), Names{});
  EXPECT_EQ(kept("deepcam(height=64, width=96)"), (Names{"batch_norm", "dense", "reshape"}));
}

}  // namespace
}  // namespace isobar::zoo
