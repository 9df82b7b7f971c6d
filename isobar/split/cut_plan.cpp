#include "isobar/split/cut_plan.hpp"

#include <algorithm>

namespace isobar::split {
namespace {

using graph::Graph;
using graph::GraphValue;
using graph::Node;
using graph::NodeId;
using graph::ValueId;
using ops::Interval;
using ops::Reach;
using Role = GraphValue::Role;
using NodeCut = CutPlan::NodeCut;

// Decides node by node, each from what it reads.
class Decision {
 public:
  Decision(const Graph& graph, CutPlan& plan, int from_end) : graph_(graph), plan_(plan), from_end_(from_end) {}

  void decide(NodeId n) {
    const Node& node = graph_.node(n);
    std::vector<Shape> in;
    for (const ValueId id : node.in) in.push_back(graph_.value(id).shape);
    const Shape& cut = node.op->is_loss() ? in[0] : graph_.value(node.out[0]).shape;
    if (node.out.size() == 1 && may_cut(node))
      for (int axis = 1; axis < cut.rank(); ++axis)
        if (try_axis(n, axis, in, cut[axis])) return;
    for (const ValueId id : node.in)
      if (graph_.value(id).role == Role::input) read_whole(id);
  }

 private:
  // The axis of an input of the network that is to be cut; -1: none.
  int axis_of_input(ValueId id) const {
    const Shape& shape = graph_.value(id).shape;
    const int axis = shape.rank() - from_end_;
    return axis >= 1 ? axis : -1;
  }
  bool is_cut(ValueId id) const { return plan_.axis[id] >= 0 && graph_.value(id).role == Role::activation; }

  // Something it reads is cut, or is an input that can be.
  bool may_cut(const Node& node) const {
    if (std::ranges::any_of(node.in, [&](ValueId id) { return bool(plan_.is_partial[id]); })) return false;
    if (std::ranges::any_of(node.in, [&](ValueId id) { return is_cut(id); })) return true;
    return !node.in.empty() && graph_.value(node.in[0]).role == Role::input && axis_of_input(node.in[0]) >= 0;
  }

  bool try_axis(NodeId n, int axis, const std::vector<Shape>& in, std::int64_t extent) {
    const Node& node = graph_.node(n);
    std::optional<Reach> reach = node.op->reach(axis, in);
    if (!reach || extent < plan_.ways) return false;
    NodeCut made{{}, axis, std::vector<std::vector<Interval>>(node.in.size())};
    bool reads_cut = false;
    for (std::size_t i = 0; i < node.in.size(); ++i) {
      const ValueId id = node.in[i];
      const int along = reach->in[i].axis;
      if (is_cut(id) && plan_.axis[id] != along) return false;
      if (along < 0) continue;
      const bool first_cut = i == 0 && graph_.value(id).role == Role::input && axis_of_input(id) == along;
      reads_cut = reads_cut || is_cut(id) || first_cut;
      for (int rank = 0; rank < plan_.ways; ++rank) {
        made.wants[i].push_back(reach->in[i].read_by(dealt(extent, plan_.ways, rank)));
        if (made.wants[i].back().empty()) return false;
      }
    }
    if (!reads_cut) return false;
    for (std::size_t i = 0; i < node.in.size(); ++i)
      if (graph_.value(node.in[i]).role == Role::input) read(node.in[i], reach->in[i].axis, made.wants[i]);
    made.reach = std::move(reach);
    if (made.reach->summed) plan_.is_partial[node.out[0]] = true;
    else plan_.axis[node.out[0]] = axis;
    plan_.nodes[n] = std::move(made);
    return true;
  }

  // An input of the network is read from files, so that rows may be read by several ranks.
  void read(ValueId id, int axis, const std::vector<Interval>& wants) {
    if (axis < 0 || (plan_.axis[id] >= 0 && plan_.axis[id] != axis)) return read_whole(id);
    if (whole_[id.number()]) return;
    plan_.axis[id] = axis;
    std::vector<Interval>& rows = plan_.read[id];
    if (rows.empty()) rows = wants;
    for (std::size_t r = 0; r < rows.size(); ++r)
      rows[r] = {std::min(rows[r].begin, wants[r].begin), std::max(rows[r].end, wants[r].end)};
  }
  void read_whole(ValueId id) {
    whole_[id.number()] = true;
    plan_.axis[id] = -1;
    plan_.read[id].clear();
  }

  const Graph& graph_;
  CutPlan& plan_;
  int from_end_;
  std::vector<char> whole_ = std::vector<char>(graph_.values().size());
};

}  // namespace

Interval dealt(std::int64_t extent, int ways, int rank) {
  const std::int64_t each = extent / ways, more = extent % ways;
  const auto first = [&](std::int64_t r) { return r * each + std::min(r, more); };
  return {first(rank), first(rank + 1)};
}

CutPlan::CutPlan(const Graph& graph, int ranks, int from_end)
    : nodes(graph.nodes().size()),
      axis(graph.values().size(), -1),
      is_partial(graph.values().size()),
      read(graph.values().size()),
      ways(ranks) {
  Decision decision(graph, *this, from_end);
  for (const NodeId n : graph.nodes().ids()) decision.decide(n);
}

Interval CutPlan::rows(const Graph& graph, ValueId value, int rank) const {
  return read[value].empty() ? dealt(graph.value(value).shape[axis[value]], ways, rank) : read[value][rank];
}

bool CutPlan::any() const {
  return std::ranges::any_of(nodes, [](const NodeCut& node) { return node.reach.has_value(); });
}

}  // namespace isobar::split
