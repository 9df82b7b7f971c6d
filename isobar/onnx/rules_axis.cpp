// Operators along axes: softmax, concatenation, splitting, reduction, slicing, padding. On a channels-last value the
// axes of the file are renumbered: 0 stays, 1 becomes the last, the others move down by one.
#include <algorithm>

#include "isobar/onnx/importer.hpp"

namespace isobar::onnx {
namespace {

using graph::ValueId;

int inside(int axis, int rank, bool last) { return !last || axis == 0 ? axis : axis == 1 ? rank - 1 : axis - 1; }

// Before version 13, the axes from `axis` on counted as one.
bool softmax(Importer& m, const char* op) {
  const int rank = m.rank(0);
  if (rank == 0 || !m.floating(0) || !m.some(0)) return false;
  const bool flat = m.version() < 13;
  const int axis = Importer::axis(m.node().integer("axis", flat ? 1 : -1), rank);
  if (flat && axis != rank - 1) {
    const Dims dims = m.dims(0);
    std::int64_t rows = 1;
    for (int a = 0; a < axis; ++a) rows *= dims[a];
    const ValueId x = m.add(fmt::format("reshape(whole=[{}, -1])", rows), m.plain(0));
    m.give(0, m.add(fmt::format("reshape(whole=[{}])", fmt::join(dims, ", ")), m.add(op, x)), dims);
    return true;
  }
  const bool last = m.held_last(0);
  m.give(0, m.add(fmt::format("{}(axis={})", op, inside(axis, rank, last)), m.as_held(0)), m.dims(0), last);
  return true;
}

bool concat(Importer& m) {
  const int rank = m.rank(0);
  if (m.inputs() == 1) return m.give_same(0, 0), true;
  const int axis = Importer::axis(m.node().integer("axis", m.version() < 4 ? 1 : -rank - 1), rank);
  bool last = false;
  Dims dims = m.dims(0);
  dims[axis] = 0;
  for (std::size_t i = 0; i < m.inputs(); ++i) {
    if (m.rank(i) != rank)
      fail("inputs {} and {} differ in their number of axes", dims_text(m.dims(0)), dims_text(m.dims(i)));
    if (!m.some(i)) return false;
    dims[axis] += m.dims(i)[axis];
    last = last || m.held_last(i);
  }
  std::vector<ValueId> in;
  for (std::size_t i = 0; i < m.inputs(); ++i) in.push_back(last ? m.last(i) : m.plain(i));
  m.give(0, m.add(fmt::format("concat(axis={})", inside(axis, rank, last)), std::move(in)), dims, last);
  return true;
}

bool split(Importer& m) {
  const int rank = m.rank(0), axis = Importer::axis(m.node().integer("axis", 0), rank);
  const std::size_t outputs = m.node().out.size();
  const std::int64_t extent = m.dims(0)[axis];
  auto sizes = m.integers("split", 1);
  if (!sizes) {
    if (outputs == 0 || extent % static_cast<std::int64_t>(outputs) != 0)
      fail("axis {} of {} does not split into {} equal parts", axis, dims_text(m.dims(0)), outputs);
    sizes.emplace(outputs, extent / static_cast<std::int64_t>(outputs));
  }
  std::int64_t sum = 0;
  for (const std::int64_t s : *sizes) sum += s < 0 ? max_axis : s;
  if (sum != extent || sizes->size() != outputs)
    fail("parts of {} do not split {} numbers into {}", fmt::join(*sizes, ", "), extent, outputs);
  if (std::find(sizes->begin(), sizes->end(), 0) != sizes->end() || !m.some(0)) return false;
  const bool last = m.held_last(0);
  m.add(fmt::format("split(axis={}, sizes=[{}])", inside(axis, rank, last), fmt::join(*sizes, ", ")), m.as_held(0));
  const std::vector<ValueId> parts = m.added();
  for (std::size_t o = 0; o < outputs; ++o) {
    Dims dims = m.dims(0);
    dims[axis] = (*sizes)[o];
    m.give(o, parts[o], dims, last);
  }
  return true;
}

bool reduce(Importer& m, const char* kind) {
  const int rank = m.rank(0);
  if (!m.floating(0) || !m.some(0) || rank == 0) return false;
  const auto given = m.integers("axes", 1);
  std::vector<bool> gone(rank, !given || given->empty());
  if ((!given || given->empty()) && m.node().integer("noop_with_empty_axes", 0) != 0) return m.give_same(0, 0), true;
  if (given)
    for (const std::int64_t a : *given) gone[Importer::axis(a, rank)] = true;
  const bool keep = m.node().integer("keepdims", 1) != 0;
  // After losing axes, a channels-last value is in the file's order only if the channels or all positions are gone.
  const bool in_order = rank >= 3 && (gone[1] || std::all_of(gone.begin() + 2, gone.end(), [](bool g) { return g; }));
  const bool last = m.held_last(0) && (keep || in_order);
  std::vector<int> axes;
  Dims dims;
  for (int a = 0; a < rank; ++a) {
    if (gone[a]) axes.push_back(inside(a, rank, last));
    if (!gone[a] || keep) dims.push_back(gone[a] ? 1 : m.dims(0)[a]);
  }
  std::sort(axes.begin(), axes.end());
  const ValueId y = m.add(fmt::format("reduce(kind={}, axes=[{}], keep={})", kind, fmt::join(axes, ", "), keep),
                          last ? m.last(0) : m.plain(0));
  m.give(0, y, dims, last && keep);
  return true;
}

bool slice(Importer& m) {
  const int rank = m.rank(0);
  if (rank == 0 || !m.some(0)) return false;
  const auto begin = m.integers("starts", 1), end = m.integers("ends", 2), axes = m.integers("axes", 3),
             step = m.integers("steps", 4);
  if (!begin || !end || begin->size() != end->size() || (axes && axes->size() != begin->size()) ||
      (step && step->size() != begin->size()))
    fail("starts, ends, axes and steps must have the same length");
  const bool last = m.held_last(0);
  std::vector<std::int64_t> at, steps;
  std::vector<std::int64_t> from, to;
  Dims dims = m.dims(0);
  for (std::size_t i = 0; i < begin->size(); ++i) {
    const int axis = Importer::axis(axes ? (*axes)[i] : static_cast<std::int64_t>(i), rank);
    const std::int64_t n = dims[axis], s = step ? (*step)[i] : 1;
    if (s == 0) fail("a step of 0");
    if (std::find(at.begin(), at.end(), inside(axis, rank, last)) != at.end()) fail("axis {} is sliced twice", axis);
    const auto clamped = [&](std::int64_t v, std::int64_t low, std::int64_t high) {
      return std::clamp(v < 0 ? v + n : v, low, high);
    };
    const std::int64_t b = s > 0 ? clamped((*begin)[i], 0, n) : clamped((*begin)[i], 0, n - 1);
    const std::int64_t e = s > 0 ? clamped((*end)[i], 0, n) : clamped((*end)[i], -1, n);
    const std::int64_t length = s > 0 ? (e - b + s - 1) / s : (b - e - s - 1) / -s;
    if (length <= 0) return false;
    dims[axis] = length;
    at.push_back(inside(axis, rank, last));
    steps.push_back(s);
    from.push_back((*begin)[i]);
    to.push_back((*end)[i]);
  }
  if (at.empty()) return m.give_same(0, 0), true;
  m.give(0,
         m.add(fmt::format("slice(axes=[{}], begin=[{}], end=[{}], step=[{}])", fmt::join(at, ", "),
                           fmt::join(from, ", "), fmt::join(to, ", "), fmt::join(steps, ", ")),
               m.as_held(0)),
         dims, last);
  return true;
}

bool pad(Importer& m) {
  const std::size_t rank = m.dims(0).size();
  const auto pads = m.integers("pads", 1);
  const std::string mode = m.node().text("mode", "constant");
  if (!pads || pads->size() != 2 * rank) fail("pads must have {} numbers", 2 * rank);
  double value = m.node().number("value", 0);
  if (m.has(2) && !m.numbers(2).values.empty()) value = m.numbers(2).values[0];
  if (rank == 0 || !m.some(0) || m.inputs() > 3) return false;
  const bool last = m.held_last(0);
  Dims dims = m.dims(0);
  std::vector<std::int64_t> before(rank), after(rank);
  for (std::size_t a = 0; a < rank; ++a) {
    const std::size_t to = inside(a, rank, last);
    before[to] = (*pads)[a];
    after[to] = (*pads)[rank + a];
    if (std::max(std::abs(before[to]), std::abs(after[to])) > 1 << 24) fail("pads must be within +-2^24");
    dims[a] += before[to] + after[to];
    if (dims[a] < 1) return false;
  }
  m.give(0,
         m.add(fmt::format("pad(before=[{}], after=[{}], mode={}, value={})", fmt::join(before, ", "),
                           fmt::join(after, ", "), mode, value),
               m.as_held(0)),
         dims, last);
  return true;
}

}  // namespace

std::span<const ImportRule> rules_axis() {
  static constexpr ImportRule all[] = {
      {"Softmax", [](Importer& m) { return softmax(m, "softmax"); }},
      {"LogSoftmax", [](Importer& m) { return softmax(m, "log_softmax"); }},
      {"Concat", concat},
      {"Split", split},
      {"Slice", slice},
      {"Pad", pad},
      {"ReduceSum", [](Importer& m) { return reduce(m, "sum"); }},
      {"ReduceMean", [](Importer& m) { return reduce(m, "mean"); }},
      {"ReduceMax", [](Importer& m) { return reduce(m, "max"); }},
      {"ReduceMin", [](Importer& m) { return reduce(m, "min"); }},
      {"ReduceProd", [](Importer& m) { return reduce(m, "prod"); }},
      {"ReduceL1", [](Importer& m) { return reduce(m, "l1"); }},
      {"ReduceL2", [](Importer& m) { return reduce(m, "l2"); }},
      {"ReduceLogSum", [](Importer& m) { return reduce(m, "log_sum"); }},
      {"ReduceLogSumExp", [](Importer& m) { return reduce(m, "log_sum_exp"); }},
      {"ReduceSumSquare", [](Importer& m) { return reduce(m, "sum_square"); }},
  };
  return all;
}

}  // namespace isobar::onnx
