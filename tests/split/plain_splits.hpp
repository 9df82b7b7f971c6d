// Splits that need no messages, for tests of what ranks that share a model do besides: `Copies`, in which every rank
// computes everything, and `Slabs`, which cuts networks whose elements do not look at their neighbours.
#pragma once

#include <algorithm>

#include <fmt/format.h>

#include "isobar/ops/reach.hpp"
#include "isobar/split/split.hpp"

namespace isobar::tests {

/// Every rank of a replica has the whole network.
class Copies final : public split::Split {
 public:
  explicit Copies(int ways) : ways_(ways) {}
  int ways() const override { return ways_; }
  split::ModelPart cut(graph::Graph whole, int) const override {
    return {.graph = std::move(whole), .text = "a copy", .loss_share = 1.0 / ways_};
  }

 private:
  int ways_;
};

/// Cuts the first axis of a sample, of every input and activation, into parts of unequal extents; for networks that end
/// with a loss over all elements.
class Slabs final : public split::Split {
 public:
  explicit Slabs(int ways) : ways_(ways) {}
  int ways() const override { return ways_; }

  split::ModelPart cut(graph::Graph whole, int rank) const override {
    split::ModelPart part;
    IdVector<graph::ValueId, graph::ValueId> now(whole.values().size());
    for (const graph::ValueId id : now.ids()) {
      const graph::GraphValue& value = whole.value(id);
      if (value.role == graph::GraphValue::Role::parameter) now[id] = part.graph.parameter(value.name, value.parameter);
      if (value.role != graph::GraphValue::Role::input) continue;
      now[id] = part.graph.input(value.name, with_axis_1(value.shape, slab(value.shape[1], rank).extent()));
      part.inputs[value.name] = box_of(value.shape, rank);
    }
    const std::int64_t extent = whole.values()[graph::ValueId(0)].shape[1];
    for (const graph::Node& node : whole.nodes()) {
      std::vector<graph::ValueId> in;
      std::vector<Shape> shapes;
      for (const graph::ValueId id : node.in) in.push_back(now[id]), shapes.push_back(whole.value(id).shape);
      const auto op = ops::cut_operator(node.op, 1, slab(extent, rank), shapes).op;
      const graph::ValueId first = part.graph.add_node(node.name, node.kind, op, std::move(in));
      for (std::size_t i = 0; i < node.out.size(); ++i) now[node.out[i]] = first + i;
    }
    for (const auto& [name, id] : whole.outputs()) {
      part.graph.output(name, now[id]);
      if (name != "loss") part.outputs[name] = box_of(whole.value(id).shape, rank);
    }
    const ops::Interval mine = slab(extent, rank);
    part.text = fmt::format("rows {}-{} of {}", mine.begin, mine.end - 1, extent);
    return part;
  }

 private:
  // The first one is larger.
  ops::Interval slab(std::int64_t extent, int rank) const {
    const auto bound = [&](int r) { return r == 0 ? 0 : extent - (extent - 1) * (ways_ - r) / ways_; };
    return {bound(rank), bound(rank + 1)};
  }
  static Shape with_axis_1(const Shape& shape, std::int64_t extent) {
    std::vector<std::int64_t> extents = shape.extents();
    extents[1] = extent;
    return Shape(extents);
  }
  Box box_of(const Shape& batch, int rank) const {
    const ops::Interval mine = slab(batch[1], rank);
    return Box::whole(Shape(std::vector(batch.extents().begin() + 1, batch.extents().end())))
        .with(0, mine.begin, mine.extent());
  }

  int ways_;
};

}  // namespace isobar::tests
