#include "isobar/onnx/importer.hpp"

#include <algorithm>
#include <cmath>

#include "isobar/base/text.hpp"
#include "isobar/onnx/function_operator.hpp"

namespace isobar::onnx {

using graph::ValueId;

std::vector<std::int64_t> to_last(int rank) {
  std::vector<std::int64_t> order{0};
  for (int a = 2; a < rank; ++a) order.push_back(a);
  order.push_back(1);
  return order;
}

std::vector<std::int64_t> to_first(int rank) {
  std::vector<std::int64_t> order{0, rank - 1};
  for (int a = 1; a < rank - 1; ++a) order.push_back(a);
  return order;
}

namespace {

Dims reordered(const Dims& dims, const std::vector<std::int64_t>& order) {
  Dims result;
  for (const std::int64_t a : order) result.push_back(dims[a]);
  return result;
}

// Whether transposing changes nothing in memory: one channel, or one position.
bool turns_nothing(const Dims& dims) {
  return dims[1] == 1 || std::all_of(dims.begin() + 2, dims.end(), [](std::int64_t d) { return d == 1; });
}

std::string full_text(const Dims& dims) {
  return fmt::format("reshape(whole=[{}])", fmt::join(graph_shape(dims).extents(), ", "));
}

}  // namespace

const Held& Importer::held(std::size_t i) const {
  if (!has(i)) fail("input {} is missing", i);
  return values_.at(node_->in[i]);
}

Held& Importer::value(const std::string& name) { return values_.at(name); }

bool Importer::wanted(std::size_t o) const {
  if (o >= node_->out.size() || node_->out[o].empty()) return false;
  return outputs_.contains(node_->out[o]) || readers_.contains(node_->out[o]);
}

const Array& Importer::numbers(std::size_t i) {
  if (!has(i)) fail("input {} is missing", i);
  Held& h = value(node_->in[i]);
  if (!h.constant()) throw NeedsValue(i);
  if (!h.known) {
    Array a = h.stored->array();
    if (h.transposed) a.values = turned(a.values, a.dims, {1, 0});
    a.dims = h.dims;
    h.known = std::make_shared<const Array>(std::move(a));
  }
  return *h.known;
}

std::optional<std::vector<std::int64_t>> Importer::integers(const char* attribute, std::size_t i) {
  if (node_->has(attribute)) return node_->integers(attribute, {});
  if (!has(i)) return std::nullopt;
  std::vector<std::int64_t> list;
  for (const double v : numbers(i).values) {
    if (std::isnan(v)) fail("input {} must be whole numbers", i);
    const auto limit = static_cast<double>(max_axis);
    list.push_back(static_cast<std::int64_t>(std::clamp(v, -limit, limit)));
  }
  return list;
}

int Importer::axis(std::int64_t given, int rank) {
  if (given < -rank || given >= rank) fail("axis {} of a value with {} axes", given, rank);
  return given < 0 ? given + rank : given;
}

std::string Importer::fresh_name(const std::string& wish) {
  std::string plain_wish = wish;  // slashes would create groups in checkpoints
  std::replace(plain_wish.begin(), plain_wish.end(), '/', '.');
  std::string name = plain_wish;
  for (int n = 2; !taken_.insert(name).second; ++n) name = fmt::format("{}~{}", plain_wish, n);
  return name;
}

ValueId Importer::parameter(const std::string& name, const Dims& dims, std::vector<float> values, const WeightUse& use,
                            bool keep) {
  ops::Parameter p{"", graph_shape(dims), use.init};
  p.trained = use.trained;
  p.fans = use.fans;
  if (keep || !options_.fresh || !use.trained) p.values = std::make_shared<const std::vector<float>>(std::move(values));
  return graph_.parameter(fresh_name(name), std::move(p));
}

// Known numbers as a value of the graph; initializers with more than one number become weights.
ValueId Importer::place_constant(Held& h, const std::string& name, bool last, int rank) {
  const std::string key = fmt::format("{}/{}/{}", name, last ? "last" : "plain", rank);
  const auto known = weights_.find(key);
  if (known != weights_.end()) return known->second;
  std::vector<float> values;
  if (h.stored) {
    values = h.stored->floats();
    if (h.transposed) values = turned(values, {h.dims[1], h.dims[0]}, {1, 0});
  } else {
    values.assign(h.known->values.begin(), h.known->values.end());
  }
  Dims dims = h.dims;
  while (std::ssize(dims) < rank) dims.insert(dims.begin(), 1);
  if (last) {
    values = turned(values, dims, to_last(rank));
    dims = reordered(dims, to_last(rank));
  }
  const WeightUse use{.trained = !h.weight.empty() && is_floating(h.type) && values.size() > 1};
  return weights_[key] = parameter(name, dims, std::move(values), use, true);
}

ValueId Importer::plain(std::size_t i) {
  if (!has(i)) fail("input {} is missing", i);
  Held& h = value(node_->in[i]);
  if (h.plain) return h.plain;
  if (h.constant()) return h.plain = place_constant(h, node_->in[i], false, std::ssize(h.dims));
  if (turns_nothing(h.dims)) return h.plain = add(full_text(h.dims), h.last);
  return h.plain = add(fmt::format("transpose(order=[{}])", fmt::join(to_first(std::ssize(h.dims)), ", ")), h.last);
}

ValueId Importer::last(std::size_t i) {
  if (!has(i)) fail("input {} is missing", i);
  Held& h = value(node_->in[i]);
  const int rank = std::ssize(h.dims);
  if (rank < 3) fail("input {} is {}; it needs batch, channels and at least one spatial axis", i, dims_text(h.dims));
  if (h.last) return h.last;
  if (h.constant()) return h.last = place_constant(h, node_->in[i], true, rank);
  if (turns_nothing(h.dims)) return h.last = add(full_text(reordered(h.dims, to_last(rank))), h.plain);
  return h.last = add(fmt::format("transpose(order=[{}])", fmt::join(to_last(rank), ", ")), h.plain);
}

bool Importer::held_last(std::size_t i) const {
  const Held& h = held(i);
  return h.last && !h.plain;
}

ValueId Importer::operand(std::size_t i, int rank, bool last_form) {
  if (!has(i)) fail("input {} is missing", i);
  Held& h = value(node_->in[i]);
  const int own = std::ssize(h.dims);
  if (own == rank) return last_form && rank >= 3 ? last(i) : plain(i);
  if (h.constant()) return place_constant(h, node_->in[i], last_form && rank >= 3, rank);
  Dims dims = h.dims;
  while (std::ssize(dims) < rank) dims.insert(dims.begin(), 1);
  const ValueId same = add(full_text(dims), plain(i));
  if (!last_form || rank < 3) return same;
  return add(fmt::format("transpose(order=[{}])", fmt::join(to_last(rank), ", ")), same);
}

ValueId Importer::weight(std::size_t i, const WeightUse& use, bool transpose) {
  if (!has(i)) fail("input {} is missing", i);
  Held& h = value(node_->in[i]);
  if (!h.constant()) throw NeedsValue(i);
  // A matrix that was transposed before and is wanted transposed is the initializer itself, as with tied weights.
  const bool turn = transpose != h.transposed;
  const std::string& name = h.stored ? h.weight : node_->in[i];
  const std::string key = fmt::format("{}/{}", name, turn ? "transposed" : "as is");
  const auto known = weights_.find(key);
  if (known != weights_.end()) return known->second;
  std::vector<float> values;
  Dims dims = h.dims;
  if (h.stored) {
    values = h.stored->floats();
    dims = h.stored->dims;
  } else {
    values.assign(h.known->values.begin(), h.known->values.end());
  }
  if (turn) {
    values = turned(values, dims, {1, 0});
    std::swap(dims[0], dims[1]);
  }
  return weights_[key] = parameter(name, dims, std::move(values), use, false);
}

ValueId Importer::weight_of(std::size_t i, const Dims& dims, std::vector<float> values, const WeightUse& use) {
  return parameter(node_->in[i], dims, std::move(values), use, false);
}

ValueId Importer::constant(const Dims& dims, std::vector<float> values) {
  return parameter(node_->name + ".constant", dims, std::move(values), {.trained = false}, true);
}

std::string Importer::node_name() {
  return fresh_name(node_->out.empty() || node_->out[0].empty() ? node_->name : node_->out[0]);
}

ValueId Importer::add(const Spec& spec, std::vector<ValueId> in) {
  const ValueId id = graph_.add(spec, std::move(in), node_name());
  for (const ValueId out : added()) checked_count(graph_.value(out).shape.extents(), spec.name());
  return id;
}

ValueId Importer::add_complete(const Spec& spec, std::vector<ValueId> in) {
  Spec resolved;
  auto op = ops::make_operator(spec, &resolved);
  return graph_.add_node(node_name(), spec.name(), std::move(op), std::move(in), std::move(resolved));
}

void Importer::give(std::size_t o, ValueId id, Dims dims, bool last_form, std::size_t like) {
  if (o >= node_->out.size() || node_->out[o].empty()) return;
  expects(graph_.value(id).shape.count() == checked_count(dims, node_->out[o]), "dims that fit the value");
  last_form = last_form && dims.size() >= 3;
  // Scalars have an axis in the graph, so results computed from them may have one too many.
  const Shape inside = graph_shape(last_form ? reordered(dims, to_last(std::ssize(dims))) : dims);
  if (graph_.value(id).shape != inside)
    id = add(fmt::format("reshape(whole=[{}])", fmt::join(inside.extents(), ", ")), id);
  Held h{.type = held(like).type, .dims = std::move(dims)};
  (last_form ? h.last : h.plain) = id;
  values_[node_->out[o]] = std::move(h);
}

void Importer::give_plain(std::size_t o, ValueId id) { give(o, id, graph_.value(id).shape.extents()); }

void Importer::give_last(std::size_t o, ValueId id) {
  const Dims shape = graph_.value(id).shape.extents();
  give(o, id, reordered(shape, to_first(std::ssize(shape))), true);
}

void Importer::give_same(std::size_t o, std::size_t i, Type type) {
  if (o >= node_->out.size() || node_->out[o].empty()) return;
  Held h = held(i);
  if (type != Type::undefined) h.type = type;
  values_[node_->out[o]] = std::move(h);
}

}  // namespace isobar::onnx
