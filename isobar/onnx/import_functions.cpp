// Functions in the import: constants are computed immediately, other uses become nodes of the graph.
#include <algorithm>

#include "isobar/onnx/function_operator.hpp"
#include "isobar/onnx/importer.hpp"

namespace isobar::onnx {

using graph::ValueId;

// The node's inputs for a Function; `space` owns arrays made for it. Without numbers, unknown inputs have only dims.
std::vector<const Array*> Importer::call_inputs(std::vector<Array>& space, bool with_numbers) {
  std::vector<const Array*> list;
  space.reserve(node_->in.size());
  for (std::size_t i = 0; i < node_->in.size(); ++i) {
    if (!has(i)) {
      list.push_back(nullptr);
    } else if (held(i).constant()) {
      list.push_back(&numbers(i));
    } else {
      expects(!with_numbers, "inputs whose numbers are known");
      space.push_back({held(i).type, held(i).dims, {}, false});
      list.push_back(&space.back());
    }
  }
  return list;
}

void Importer::give_known(std::size_t o, Array array, const std::string& weight) {
  if (o >= node_->out.size() || node_->out[o].empty()) return;
  Held h{.type = array.type, .dims = array.dims, .weight = weight};
  h.known = std::make_shared<const Array>(std::move(array));
  values_[node_->out[o]] = std::move(h);
}

// A small file must not cause much work: what is computed while importing is limited in proportion to the numbers in
// the file. Products of two inputs are left to the graph unless they are small.
bool Importer::affordable(const Function& function, std::span<const Array* const> in) {
  constexpr std::string_view products[] = {"Conv",
                                           "ConvTranspose",
                                           "MatMul",
                                           "Gemm",
                                           "Einsum",
                                           "LSTM",
                                           "GRU",
                                           "RNN",
                                           "Det",
                                           "GridSample",
                                           "RoiAlign",
                                           "DFT",
                                           "STFT",
                                           "NonMaxSuppression",
                                           "MelWeightMatrix",
                                           "LRN",
                                           "MaxPool",
                                           "AveragePool",
                                           "Resize",
                                           "Upsample"};
  constexpr double most_in_a_product = 1 << 22;
  double work = 0, product = 1;
  for (const Array* a : in) {
    work += a ? static_cast<double>(a->count()) : 0;
    product *= a ? std::max(1.0, static_cast<double>(a->count())) : 1;
  }
  for (const Array& a : function.infer({*node_, version_, in})) {
    work += static_cast<double>(a.count());
    product = std::max(product, static_cast<double>(a.count()) * (in.empty() || !in[0] ? 1 : in[0]->count()));
  }
  if (is_one_of(products, node_->op) && product > most_in_a_product) {
    if (find_rule(node_->op)) return false;
    fail("computing it while importing would take {:.1g} operations", product);
  }
  folded_ += work;
  const double most = (1 << 24) + 64.0 * file_numbers_;
  if (folded_ > most) fail("the constants of the file need more than {:.2g} numbers to be computed", most);
  return true;
}

bool Importer::fold(const Function& function) {
  std::string weight;
  for (std::size_t i = 0; i < node_->in.size(); ++i) {
    if (!has(i)) continue;
    if (!held(i).constant()) return false;
    if (weight.empty()) weight = held(i).weight;
  }
  // A transposed weight remains the same weight, so that tied weights stay tied.
  if (node_->op == "Transpose" && held(0).stored && rank(0) == 2 &&
      node_->integers("perm", {1, 0}) == std::vector<std::int64_t>{1, 0} && !node_->out[0].empty()) {
    Held h = held(0);
    std::swap(h.dims[0], h.dims[1]);
    h.transposed = !h.transposed;
    h.known = nullptr;
    values_[node_->out[0]] = std::move(h);
    return true;
  }
  std::vector<Array> space;
  const std::vector<const Array*> in = call_inputs(space, true);
  if (!affordable(function, in)) return false;
  std::vector<Array> out = run_function(function, {*node_, version_, in});
  for (std::size_t o = 0; o < out.size(); ++o) give_known(o, std::move(out[o]), weight);
  return true;
}

// The dims of a value are known even where its numbers are not.
void Importer::fold_dims(const Function& function) {
  std::vector<Array> space;
  const std::vector<const Array*> in = call_inputs(space, false);
  give_known(0, std::move(function.run({*node_, version_, in}).at(0)), "");
}

void Importer::add_function(const Function& function) {
  std::vector<Array> space;
  const std::vector<const Array*> in = call_inputs(space, false);
  const std::vector<Array> out = function.infer({*node_, version_, in});
  if (std::any_of(out.begin(), out.end(), [](const Array& a) { return a.count() == 0; })) {
    for (std::size_t o = 0; o < out.size(); ++o) {  // nothing is known completely
      if (out[o].count() > 0) fail("output {} has elements while another has none", o);
      give_known(o, zeros(out[o].type, out[o].dims), "");
    }
    return;
  }
  std::vector<ValueId> ids;
  std::vector<Array> fixed;
  for (std::size_t i = 0; i < in.size(); ++i) {
    fixed.push_back(in[i] ? *in[i] : Array{.type = Type::undefined, .known = false});
    if (in[i] && !in[i]->known) ids.push_back(plain(i));
  }
  const std::string name = node_name();
  auto op = std::make_shared<FunctionOperator>(*node_, version_, function, std::move(fixed), out);
  graph_.add_node(name, "onnx." + node_->op, std::move(op), std::move(ids));
  const std::vector<ValueId> made = added();
  for (std::size_t o = 0; o < out.size() && o < node_->out.size(); ++o) {
    if (node_->out[o].empty()) continue;
    Held h{.type = out[o].type, .dims = out[o].dims};
    h.plain = made[o];
    values_[node_->out[o]] = std::move(h);
  }
}

}  // namespace isobar::onnx
