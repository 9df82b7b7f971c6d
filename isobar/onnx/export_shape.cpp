// Writes operators on axes and shapes. For a value held channels-first, the axes of the graph are renumbered.
#include <algorithm>

#include "isobar/onnx/exporter.hpp"
#include "isobar/onnx/import.hpp"

namespace isobar::onnx {
namespace {

std::int64_t outside(std::int64_t axis, int rank, bool first) {
  if (axis < 0) axis += rank;
  return !first || axis == 0 ? axis : axis == rank - 1 ? 1 : axis + 1;
}

void flatten(Exporter& e) { e.give_plain(0, e.emit("Flatten", {e.plain(0)}, {{"axis", attribute(1)}})); }

// The first extent is written as 0 (unchanged) if it is that of x, so that the batch stays open.
void reshape(Exporter& e) {
  std::vector<std::int64_t> dims = e.out_shape().extents();
  if (e.shape(0)[0] == dims[0]) dims[0] = 0;
  else e.fix_batch();
  e.give_plain(0, e.emit("Reshape", {e.plain(0), e.constant(dims)}));
}

void softmax(Exporter& e, const char* op) {
  const bool first = e.held_first(0);
  const std::int64_t axis = outside(e.args().integer("axis", -1), e.shape(0).rank(), first);
  e.give(0, e.emit(op, {e.as_held()}, {{"axis", attribute(axis)}}), first);
}

void concat(Exporter& e) {
  bool first = false;
  for (std::size_t i = 0; i < e.inputs(); ++i) first = first || e.held_first(i);
  std::vector<std::string> in;
  for (std::size_t i = 0; i < e.inputs(); ++i) in.push_back(first ? e.first(i) : e.plain(i));
  const std::int64_t axis = outside(e.args().integer("axis", -1), e.shape(0).rank(), first);
  e.give(0, e.emit("Concat", std::move(in), {{"axis", attribute(axis)}}), first);
}

void split(Exporter& e) {
  const bool first = e.held_first(0);
  const int rank = e.shape(0).rank();
  const std::int64_t given = e.args().integer("axis", -1);
  std::vector<std::int64_t> sizes;
  for (std::size_t o = 0; o < e.node().out.size(); ++o) sizes.push_back(e.out_shape(o)[given]);
  const auto parts = e.emit_many("Split", {e.as_held(), e.constant(sizes)}, sizes.size(),
                                 {{"axis", attribute(outside(given, rank, first))}});
  for (std::size_t o = 0; o < parts.size(); ++o) e.give(o, parts[o], first);
}

// A value that loses axes is easiest to write in the graph's order.
void reduce(Exporter& e) {
  Args args = e.args();
  static const std::map<std::string, const char*> names{{"sum", "ReduceSum"},
                                                        {"mean", "ReduceMean"},
                                                        {"max", "ReduceMax"},
                                                        {"min", "ReduceMin"},
                                                        {"prod", "ReduceProd"},
                                                        {"l1", "ReduceL1"},
                                                        {"l2", "ReduceL2"},
                                                        {"log_sum", "ReduceLogSum"},
                                                        {"log_sum_exp", "ReduceLogSumExp"},
                                                        {"sum_square", "ReduceSumSquare"}};
  const std::string kind = args.text("kind", "sum");
  const bool keep = args.flag("keep", false), first = keep && e.held_first(0);
  const int rank = e.shape(0).rank();
  std::vector<std::int64_t> given = args.integers("axes", {});
  if (given.empty())
    for (int a = 1; a < rank; ++a) given.push_back(a);
  std::vector<std::int64_t> axes;
  for (const std::int64_t a : given) axes.push_back(outside(a, rank, first));
  Attributes attributes{{"keepdims", attribute(keep ? 1 : 0)}};
  std::vector<std::string> in{first ? e.first(0) : e.plain(0)};
  if (kind == "sum") in.push_back(e.constant(axes));
  else attributes["axes"] = attribute(axes);
  std::string y = e.emit(names.at(kind), std::move(in), std::move(attributes));
  if (!keep && std::ssize(given) == rank) y = e.emit("Reshape", {y, e.constant(std::vector<std::int64_t>{1})});
  e.give(0, y, first);
}

void slice(Exporter& e) {
  Args args = e.args();
  const bool first = e.held_first(0);
  const int rank = e.shape(0).rank();
  const auto begin = args.integers("begin", {}), end = args.integers("end", {});
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < begin.size(); ++i) all.push_back(i);
  auto axes = args.integers("axes", all);
  for (std::int64_t& a : axes) a = outside(a, rank, first);
  const auto step = args.integers("step", std::vector<std::int64_t>(begin.size(), 1));
  e.give(0, e.emit("Slice", {e.as_held(), e.constant(begin), e.constant(end), e.constant(axes), e.constant(step)}),
         first);
}

void pad(Exporter& e) {
  Args args = e.args();
  const bool first = e.held_first(0);
  const int rank = e.shape(0).rank();
  const auto before = args.integers("before", {}), after = args.integers("after", {});
  std::vector<std::int64_t> pads(2 * rank, 0);
  for (int a = 0; a < rank; ++a) {
    const std::size_t to = outside(a, rank, first);
    pads[to] = before[a];
    pads[rank + to] = after[a];
  }
  e.give(0,
         e.emit("Pad", {e.as_held(), e.constant(pads), e.scalar(args.real("value", 0))},
                {{"mode", attribute(args.text("mode", "constant").c_str())}}),
         first);
}

// For a value held channels-first, the order is relative to its axes in the file; if nothing moves, no node is
// written.
void transpose(Exporter& e) {
  const bool first = e.held_first(0);
  const int rank = e.shape(0).rank();
  std::vector<std::int64_t> order = e.args().integers("order", {});
  if (order.empty()) {
    for (int a = 0; a < rank; ++a) order.push_back(a);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
  }
  for (std::int64_t& a : order) a = outside(a, rank, first);
  if (std::is_sorted(order.begin(), order.end())) return e.give_plain(0, e.as_held());
  e.give_plain(0, e.emit("Transpose", {e.as_held()}, {{"perm", attribute(order)}}));
}

void expand(Exporter& e) {
  e.fix_batch();
  e.give_plain(0, e.emit("Expand", {e.plain(0), e.constant(e.out_shape().extents())}));
}

void gather(Exporter& e) {
  e.give_plain(0, e.emit("Gather", {e.plain(0), e.indices(1)}, {{"axis", attribute(e.args().integer("axis", 0))}}));
}

void embedding(Exporter& e) { e.give_plain(0, e.emit("Gather", {e.plain(1), e.indices(0)}, {{"axis", attribute(0)}})); }

void matmul(Exporter& e) {
  Args args = e.args();
  const auto side = [&](std::size_t i, bool turn) {
    if (!turn) return e.plain(i);
    std::vector<std::int64_t> order;
    for (int a = 0; a < e.shape(i).rank(); ++a) order.push_back(a);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return e.emit("Transpose", {e.plain(i)}, {{"perm", attribute(order)}});
  };
  const std::string a = side(0, args.flag("transpose_a", false)), b = side(1, args.flag("transpose_b", false));
  e.give_plain(0, e.emit("MatMul", {a, b}));
}

void expect_image(Exporter& e) {
  if (e.shape(0).rank() != 4)
    fail("ONNX moves blocks between depth and space of images only, and '{}' has {}", e.node().name, e.shape(0).str());
}

void depth_to_space(Exporter& e) {
  expect_image(e);
  Args args = e.args();
  e.give_first(0, e.emit("DepthToSpace", {e.first(0)},
                         {{"blocksize", attribute(args.integer("block", 2))},
                          {"mode", attribute(args.text("mode", "dcr") == "dcr" ? "DCR" : "CRD")}}));
}

void space_to_depth(Exporter& e) {
  expect_image(e);
  e.give_first(0, e.emit("SpaceToDepth", {e.first(0)}, {{"blocksize", attribute(e.args().integer("block", 2))}}));
}

}  // namespace

std::span<const ExportRule> export_shape() {
  static constexpr ExportRule all[] = {
      {"flatten", flatten},
      {"reshape", reshape},
      {"concat", concat},
      {"split", split},
      {"reduce", reduce},
      {"slice", slice},
      {"pad", pad},
      {"transpose", transpose},
      {"expand", expand},
      {"gather", gather},
      {"embedding", embedding},
      {"matmul", matmul},
      {"depth_to_space", depth_to_space},
      {"space_to_depth", space_to_depth},
      {"softmax", [](Exporter& e) { softmax(e, "Softmax"); }},
      {"log_softmax", [](Exporter& e) { softmax(e, "LogSoftmax"); }},
  };
  return all;
}

}  // namespace isobar::onnx
