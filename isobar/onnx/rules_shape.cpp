// Changing shapes and orders of axes, and picking by index.
#include <algorithm>
#include <numeric>

#include "isobar/onnx/importer.hpp"

namespace isobar::onnx {
namespace {

using graph::ValueId;

// A file made for one batch size says [1, 256] where it means [batch, 256]: the first axis takes the remaining factor.
void scale_batch(Dims& wanted, std::int64_t count) {
  const std::int64_t named = checked_count(wanted, "shape");
  if (named > 0 && count % named == 0 && !wanted.empty()) wanted[0] *= count / named;
}

bool reshaped(Importer& m, const Dims& dims) {
  if (!m.some(0)) return false;
  if (checked_count(dims, "shape") != checked_count(m.dims(0), "x"))
    fail("x = {} cannot have the shape {}", dims_text(m.dims(0)), dims_text(dims));
  if (dims == m.dims(0)) return m.give_same(0, 0), true;
  m.give(0, m.add(fmt::format("reshape(whole=[{}])", fmt::join(graph_shape(dims).extents(), ", ")), m.plain(0)), dims);
  return true;
}

bool reshape(Importer& m) {
  const auto wanted = m.integers("shape", 1);
  if (!wanted) fail("has no shape");
  Dims dims = *wanted;
  const bool zero_stays = m.node().integer("allowzero", 0) != 0;
  std::int64_t open = -1, known = 1;
  for (std::size_t a = 0; a < dims.size(); ++a) {
    if (dims[a] == 0 && !zero_stays) {
      if (a >= m.dims(0).size()) fail("axis {} of {} is to stay as it is", a, dims_text(m.dims(0)));
      dims[a] = m.dims(0)[a];
    }
    if (dims[a] < -1) fail("extent {} of axis {}", dims[a], a);
    if (dims[a] == -1 && open >= 0) fail("two axes are open");
    if (dims[a] == -1) open = a;
    else known = checked_count({known, dims[a]}, "shape");
  }
  const std::int64_t count = checked_count(m.dims(0), "x");
  if (open >= 0) {
    if (known == 0 || count % known != 0) fail("x = {} does not divide into {}", dims_text(m.dims(0)), dims_text(dims));
    dims[open] = count / known;
  } else if (known != count) {
    scale_batch(dims, count);
  }
  return reshaped(m, dims);
}

bool flatten(Importer& m) {
  const int rank = m.rank(0);
  const std::int64_t given = m.node().integer("axis", 1);
  const int axis = given == rank ? rank : Importer::axis(given, std::max(rank, 1));
  std::int64_t rows = 1, columns = 1;
  for (int a = 0; a < rank; ++a) (a < axis ? rows : columns) *= m.dims(0)[a];
  return reshaped(m, {rows, columns});
}

bool squeeze(Importer& m) {
  const auto axes = m.integers("axes", 1);
  std::vector<bool> gone;
  for (const std::int64_t d : m.dims(0)) gone.push_back(!axes && d == 1);
  if (axes)
    for (const std::int64_t a : *axes) {
      const int axis = Importer::axis(a, m.rank(0));
      if (m.dims(0)[axis] != 1) fail("axis {} of {} is not 1", a, dims_text(m.dims(0)));
      gone[axis] = true;
    }
  Dims dims;
  for (std::size_t a = 0; a < gone.size(); ++a)
    if (!gone[a]) dims.push_back(m.dims(0)[a]);
  return reshaped(m, dims);
}

bool unsqueeze(Importer& m) {
  const auto axes = m.integers("axes", 1);
  if (!axes) fail("has no axes");
  const int rank = m.rank(0) + std::ssize(*axes);
  if (rank > 64) fail("{} axes", rank);
  std::vector<bool> added(rank, false);
  for (const std::int64_t a : *axes) added[Importer::axis(a, rank)] = true;
  if (std::count(added.begin(), added.end(), true) != std::ssize(*axes)) fail("an axis is named twice");
  Dims dims;
  for (std::size_t a = 0, from = 0; a < added.size(); ++a) dims.push_back(added[a] ? 1 : m.dims(0)[from++]);
  return reshaped(m, dims);
}

// For a channels-last value, the order is relative to its current axes.
bool transpose(Importer& m) {
  const int rank = m.rank(0);
  std::vector<std::int64_t> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  order = m.node().integers("perm", order);
  std::vector<std::int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (int a = 0; a < rank; ++a)
    if (std::ssize(order) != rank || sorted[a] != a)
      fail("perm = [{}] is not an order of {} axes", fmt::join(order, ", "), rank);
  if (rank == 0 || !m.some(0)) return false;
  Dims dims;
  for (const std::int64_t a : order) dims.push_back(m.dims(0)[a]);
  const bool last = m.held_last(0);
  if (last) {
    const std::vector<std::int64_t> at = to_last(rank);
    for (std::int64_t& a : order) a = std::find(at.begin(), at.end(), a) - at.begin();
  }
  const ValueId x = last ? m.last(0) : m.plain(0);
  if (std::is_sorted(order.begin(), order.end())) return m.give(0, x, dims), true;
  m.give(0, m.add(fmt::format("transpose(order=[{}])", fmt::join(order, ", ")), x), dims);
  return true;
}

bool expand(Importer& m) {
  const auto wanted = m.integers("shape", 1);
  if (!wanted) fail("has no shape");
  Dims dims = *wanted;
  const Dims& x = m.dims(0);
  if (x.size() > dims.size()) dims.insert(dims.begin(), x.size() - dims.size(), 1);
  for (std::size_t a = 0, first = dims.size() - x.size(); a < x.size(); ++a) {
    if (dims[first + a] != x[a] && dims[first + a] != 1 && x[a] != 1)
      fail("x = {} does not expand to {}", dims_text(x), dims_text(dims));
    if (dims[first + a] == 1) dims[first + a] = x[a];
  }
  if (!m.some(0) || checked_count(dims, "shape") == 0 || dims.empty()) return false;
  if (dims == x) return m.give_same(0, 0), true;
  m.give(0, m.add(fmt::format("expand(shape=[{}])", fmt::join(dims, ", ")), m.operand(0, std::ssize(dims), false)),
         dims);
  return true;
}

// Rows of a weight picked by index are an embedding.
bool gather(Importer& m) {
  const int rank = m.rank(0);
  if (rank == 0 || !m.some(0) || !m.some(1)) return false;
  const int axis = Importer::axis(m.node().integer("axis", 0), rank);
  Dims dims(m.dims(0).begin(), m.dims(0).begin() + axis);
  dims.insert(dims.end(), m.dims(1).begin(), m.dims(1).end());
  dims.insert(dims.end(), m.dims(0).begin() + axis + 1, m.dims(0).end());
  if (m.is_constant(0) && m.floating(0) && rank == 2 && axis == 0 && !m.is_constant(1) && m.rank(1) >= 1) {
    const ValueId table = m.weight(0, {"gaussian(std=0.02)"});
    m.give(0, m.add(fmt::format("embedding(rows={}, width={})", m.dims(0)[0], m.dims(0)[1]), {m.plain(1), table}),
           dims);
    return true;
  }
  m.give(0, m.add(fmt::format("gather(axis={})", axis), {m.plain(0), m.plain(1)}), dims);
  return true;
}

bool identity(Importer& m) { return m.give_same(0, 0), true; }

// Training drops at the rate of the file; if the mask is an output, or the file sets training_mode and a seed, a
// function does it.
bool dropout(Importer& m) {
  double rate = m.node().number("ratio", 0.5);
  if (m.has(1) && !m.numbers(1).values.empty()) rate = m.numbers(1).values[0];
  const bool training = m.has(2) && !m.numbers(2).values.empty() && m.numbers(2).values[0] != 0;
  if (m.wanted(1) || (training && rate > 0 && m.node().has("seed")) || !m.floating(0) || !m.some(0)) return false;
  if (!(rate > 0 && rate < 1)) return identity(m);
  const bool last = m.held_last(0);
  m.give(0, m.add(fmt::format("dropout(rate={})", rate), last ? m.last(0) : m.plain(0)), m.dims(0), last);
  return true;
}

// All numbers are floats in the graph, so a cast between floating types does nothing.
bool cast(Importer& m) {
  const auto to = static_cast<Type>(m.node().integer("to", 0));
  if (!m.floating(0) || !is_floating(to)) return false;
  m.give_same(0, 0, to);
  return true;
}

bool depth_space(Importer& m, bool to_space) {
  const std::int64_t block = m.node().integer("blocksize", 0);
  if (m.rank(0) != 4 || !m.some(0)) return false;
  if (block < 1 || block > 1 << 15) fail("blocksize = {} is not 1 to 2^15", block);
  if (to_space) {
    std::string mode = m.node().text("mode", "DCR");
    std::transform(mode.begin(), mode.end(), mode.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    m.give_last(0, m.add(fmt::format("depth_to_space(block={}, mode={})", block, mode), m.last(0)));
  } else {
    m.give_last(0, m.add(fmt::format("space_to_depth(block={})", block), m.last(0)));
  }
  return true;
}

}  // namespace

std::span<const ImportRule> rules_shape() {
  static constexpr ImportRule all[] = {
      {"Reshape", reshape},
      {"Flatten", flatten},
      {"Squeeze", squeeze},
      {"Unsqueeze", unsqueeze},
      {"Identity", identity},
      {"Transpose", transpose},
      {"Expand", expand},
      {"Gather", gather},
      {"Dropout", dropout},
      {"Cast", cast},
      {"DepthToSpace", [](Importer& m) { return depth_space(m, true); }},
      {"SpaceToDepth", [](Importer& m) { return depth_space(m, false); }},
  };
  return all;
}

}  // namespace isobar::onnx
