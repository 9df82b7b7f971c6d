#include "isobar/split/cut_graph.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "isobar/base/error.hpp"
#include "isobar/ops/edges_last.hpp"
#include "isobar/ops/seat.hpp"

namespace isobar::split {
namespace {

using graph::Graph;
using graph::GraphValue;
using graph::Node;
using graph::NodeId;
using graph::ValueId;
using ops::Interval;
using Role = GraphValue::Role;
using Numbers = std::vector<std::int64_t>;

class Builder {
 public:
  Builder(const Graph& whole, const CutPlan& plan, int rank)
      : whole_(whole), plan_(plan), rank_(rank), now_(whole.values().size()) {}

  ModelPart build() {
    for (const ValueId id : whole_.values().ids()) add_source(id);
    for (const NodeId n : whole_.nodes().ids()) add(n);
    for (const auto& [name, id] : whole_.outputs()) add_output(name, id);
    part_.graph = std::move(graph_);
    return std::move(part_);
  }

 private:
  // What a value has become in the part; made when it is first needed.
  struct Made {
    ValueId own{}, all{}, fanned{};
  };

  void add_source(ValueId id) {
    const GraphValue& value = whole_.value(id);
    if (value.role == Role::parameter) now_[id].own = graph_.parameter(value.name, value.parameter);
    if (value.role != Role::input) return;
    Shape shape = value.shape;
    if (const int axis = plan_.axis[id]; axis >= 0) {
      const Interval rows = plan_.rows(whole_, id, rank_);
      shape[axis] = rows.extent();
      part_.inputs[value.name] = box(value.shape, axis, rows);
    }
    now_[id].own = graph_.input(value.name, shape);
  }

  // The box of one sample, which has no batch axis.
  static Box box(const Shape& batch, int axis, const Interval& rows) {
    const Shape sample(std::vector(batch.extents().begin() + 1, batch.extents().end()));
    return Box::whole(sample).with(axis - 1, rows.begin, rows.extent());
  }

  void add(NodeId n) {
    const Node& node = whole_.node(n);
    const CutPlan::NodeCut& cut = plan_.nodes[n];
    if (!cut.reach) {
      std::vector<ValueId> in;
      for (const ValueId id : node.in) in.push_back(whole(id));
      return keep(node, graph_.add_node(node.name, node.kind, node.op, std::move(in), node.spec));
    }
    std::vector<Shape> shapes;
    for (const ValueId id : node.in) shapes.push_back(whole_.value(id).shape);
    const Shape& out = cut.reach->summed ? shapes[0] : whole_.value(node.out[0]).shape;
    const Interval mine = dealt(out[cut.axis], plan_.ways, rank_);
    const ops::OperatorPart part = ops::cut_operator(node.op, cut.axis, mine, shapes);
    std::vector<ValueId> in;
    for (std::size_t i = 0; i < node.in.size(); ++i)
      in.push_back(cut.wants[i].empty() ? for_a_part(node.in[i]) : rows(node, i, cut));
    if (cut.reach->divisor) add_divisor(node, *cut.reach, in);
    if (cut.reach->statistics) return keep(node, add_talking(node.name, node.spec, std::move(in)));
    std::shared_ptr<const ops::Operator> op = part.op;
    if (const auto staged = edges_last(node, cut, part, in)) op = staged;
    keep(node, graph_.add_node(node.name, node.kind, op, std::move(in), node.spec));
  }

  // A convolution begins while its halo travels, with the rows that need none; nothing where that gains nothing.
  std::shared_ptr<const ops::Operator> edges_last(const Node& node, const CutPlan::NodeCut& cut,
                                                  const ops::OperatorPart& part, std::vector<ValueId>& in) const {
    const ValueId x = node.in[0];
    if (node.kind != "conv" || cut.axis != 1 || in[0] == now_[x].own || plan_.axis[x] < 0 ||
        whole_.value(x).role == Role::input)
      return nullptr;
    const Interval have = plan_.rows(whole_, x, rank_), want = cut.wants[0][rank_];
    const Interval own{have.begin - want.begin, have.end - want.begin};
    std::vector<Shape> shapes;
    for (const ValueId id : in) shapes.push_back(graph_.value(id).shape);
    if (own.begin < 0 || own.end > want.extent()) return nullptr;
    auto op = ops::edges_last(part.op, own, shapes);
    if (op) in.insert(in.begin() + 1, now_[x].own);
    return op;
  }

  void keep(const Node& node, ValueId first) {
    for (std::size_t i = 0; i < node.out.size(); ++i) now_[node.out[i]].own = first + i;
  }

  // Parts divide by what they count together; the count comes after the data inputs and before the weights.
  void add_divisor(const Node& node, const ops::Reach& reach, std::vector<ValueId>& in) {
    const auto is_weight = [&](ValueId id) { return whole_.value(id).role == Role::parameter; };
    const auto data = std::ranges::find_if(node.in, is_weight) - node.in.begin();
    const ValueId mine = graph_.add_node(node.name + " count", "count", reach.divisor, {in[data - 1]});
    in.insert(in.begin() + data, add_talking(node.name + " counts", "all_reduce", {mine}));
  }

  ValueId add_talking(const std::string& name, Spec spec, std::vector<ValueId> in) {
    ops::Seat{"replica", rank_, plan_.ways, next_id_++}.set_in(spec);
    return graph_.add(spec, std::move(in), name);
  }

  const std::string& name_of(ValueId id) const { return whole_.value(id).name; }

  // All of a value, for what every rank computes.
  ValueId whole(ValueId id) {
    Made& made = now_[id];
    if (plan_.is_partial[id]) {
      if (!made.all) made.all = add_talking(name_of(id) + " of all", "all_reduce", {made.own});
      return made.all;
    }
    const int axis = plan_.axis[id];
    if (axis < 0) return made.own;
    if (!made.all) {
      Numbers bounds{0};
      for (int rank = 0; rank < plan_.ways; ++rank) bounds.push_back(plan_.rows(whole_, id, rank).end);
      made.all = add_talking(
          name_of(id) + " of all",
          Spec("all_gather", {{"axis", Value(std::int64_t{axis})}, {"bounds", list(bounds)}, {"copies", Value(true)}}),
          {made.own});
    }
    return made.all;
  }

  // A value that all ranks have, for what each computes a part of.
  ValueId for_a_part(ValueId id) {
    if (whole_.value(id).role != Role::activation) return now_[id].own;
    const ValueId all = whole(id);
    Made& made = now_[id];
    if (!made.fanned) made.fanned = add_talking(name_of(id) + " for parts", "fan_out", {all});
    return made.fanned;
  }

  // The rows of input i that this rank's part of a node reads.
  ValueId rows(const Node& node, std::size_t i, const CutPlan::NodeCut& cut) {
    const ValueId id = node.in[i];
    const std::vector<Interval>& wants = cut.wants[i];
    const int axis = cut.reach->in[i].axis;
    const bool is_input = whole_.value(id).role == Role::input;
    if (plan_.axis[id] < 0) {
      const Interval all{0, whole_.value(id).shape[axis]};
      const bool all_read = std::ranges::all_of(wants, [&](const Interval& want) { return want == all; });
      const ValueId from = is_input ? now_[id].own : for_a_part(id);
      return all_read ? from : sliced(node, from, axis, wants[rank_]);
    }
    std::vector<Interval> have;
    for (int rank = 0; rank < plan_.ways; ++rank) have.push_back(plan_.rows(whole_, id, rank));
    if (have == wants) return now_[id].own;
    if (is_input) {
      const Interval& mine = have[rank_];
      return sliced(node, now_[id].own, axis, {wants[rank_].begin - mine.begin, wants[rank_].end - mine.begin});
    }
    const Spec halo("halo",
                    {{"axis", Value(std::int64_t{axis})}, {"have", list(flat(have))}, {"want", list(flat(wants))}});
    return add_talking(node.name + " halo", halo, {now_[id].own});
  }

  ValueId sliced(const Node& node, ValueId from, int axis, const Interval& some) {
    if (some == Interval{0, graph_.value(from).shape[axis]}) return from;
    return graph_.add(Spec("slice", {{"axes", list({axis})}, {"begin", list({some.begin})}, {"end", list({some.end})}}),
                      from, node.name + " rows");
  }

  static Numbers flat(const std::vector<Interval>& rows) {
    Numbers numbers;
    for (const Interval& each : rows) numbers.insert(numbers.end(), {each.begin, each.end});
    return numbers;
  }
  static Value list(const Numbers& numbers) {
    std::vector<Value> values;
    for (const std::int64_t number : numbers) values.emplace_back(number);
    return Value(std::move(values));
  }

  void add_output(const std::string& name, ValueId id) {
    graph_.output(name, now_[id].own);
    const int axis = plan_.axis[id];
    if (axis >= 0) part_.outputs[name] = box(whole_.value(id).shape, axis, plan_.rows(whole_, id, rank_));
    if (name == "loss" && !plan_.is_partial[id]) part_.loss_share = 1.0 / plan_.ways;
  }

  const Graph& whole_;
  const CutPlan& plan_;
  int rank_;
  Graph graph_;
  IdVector<ValueId, Made> now_;
  ModelPart part_;
  int next_id_ = 0;
};

}  // namespace

ModelPart cut_graph(const Graph& whole, const CutPlan& plan, int rank) { return Builder(whole, plan, rank).build(); }

}  // namespace isobar::split
