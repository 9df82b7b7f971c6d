// Importer: the interface for the rules that translate single operators: the current node, its inputs in the form a
// rule wants, and functions to set its results. A rule that declines (returns false) must not have added anything.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string_view>

#include "isobar/onnx/function.hpp"
#include "isobar/onnx/import.hpp"

namespace isobar::onnx {

/// A value of the file: known numbers, or a value of the graph, or both.
struct Held {
  Type type = Type::float32;
  Dims dims{};
  std::shared_ptr<const Array> known{};  ///< the numbers, once requested
  const StoredTensor* stored = nullptr;  ///< an initializer of the file
  std::string weight{};                  ///< the initializer it is or was computed from; "" for others
  bool transposed = false;               ///< `stored` is the transpose of the value (matrices)
  graph::ValueId plain{}, last{};        ///< in the graph: with the file's axes, and channels-last
  bool constant() const { return known || stored; }
};

/// The initial values of a weight if its layer is trained from scratch, and whether it is trained at all.
struct WeightUse {
  Spec init = "constant(value=0)";
  bool trained = true;
  Shape fans{};  ///< as ops::Parameter::fans
};

class Importer {
 public:
  Importer(const OnnxModel& model, const ImportOptions& options);
  Imported run();

  // The current node.
  const OnnxNode& node() const { return *node_; }
  std::int64_t version() const { return version_; }
  std::size_t inputs() const { return node_->in.size(); }
  bool has(std::size_t i) const { return i < node_->in.size() && !node_->in[i].empty(); }
  const Dims& dims(std::size_t i) const { return held(i).dims; }
  int rank(std::size_t i) const { return std::ssize(dims(i)); }
  bool floating(std::size_t i) const { return is_floating(held(i).type); }
  /// Whether input i has any elements; operators of the catalogue do not accept empty values.
  bool some(std::size_t i) const { return checked_count(dims(i), "input") > 0; }
  bool is_constant(std::size_t i) const { return held(i).constant(); }
  /// Whether output o is read by a node or is an output of the model.
  bool wanted(std::size_t o) const;
  /// The numbers of input i; throws NeedsValue if they are not known.
  const Array& numbers(std::size_t i);
  /// Whole numbers from an attribute or an input, like Call::integers.
  std::optional<std::vector<std::int64_t>> integers(const char* attribute, std::size_t i);
  /// Axis in 0..rank-1; throws Error if there is no such axis.
  static int axis(std::int64_t given, int rank);

  // Inputs as values of the graph.
  /// With the axes of the file.
  graph::ValueId plain(std::size_t i);
  /// Channels-last; the input must have 3 axes or more.
  graph::ValueId last(std::size_t i);
  /// Whether the graph holds input i only channels-last.
  bool held_last(std::size_t i) const;
  /// In the form the graph holds it.
  graph::ValueId as_held(std::size_t i) { return held_last(i) ? last(i) : plain(i); }
  /// Input i in the given form, with leading axes of 1 up to `rank`, as an operand of a broadcasting operator.
  graph::ValueId operand(std::size_t i, int rank, bool last);
  /// A constant as a weight. `transpose` swaps the axes of a matrix.
  graph::ValueId weight(std::size_t i, const WeightUse& use, bool transpose = false);
  /// New numbers as an untrained weight.
  graph::ValueId constant(const Dims& dims, std::vector<float> values);
  /// A weight with reordered numbers; it is trained if input i is a weight.
  graph::ValueId weight_of(std::size_t i, const Dims& dims, std::vector<float> values, const WeightUse& use);

  // Results.
  graph::ValueId add(const Spec& spec, std::vector<graph::ValueId> in);
  graph::ValueId add(const Spec& spec, graph::ValueId in) { return add(spec, std::vector{in}); }
  /// Like add(), for an operator with a variable number of inputs, whose weights are all given.
  graph::ValueId add_complete(const Spec& spec, std::vector<graph::ValueId> in);
  /// The outputs of the node added last.
  const std::vector<graph::ValueId>& added() const { return graph_.nodes().back().out; }
  const Shape& shape(graph::ValueId id) const { return graph_.value(id).shape; }
  /// Sets output o to a value of the graph; dims are those of the file, the type is that of input `like`.
  void give(std::size_t o, graph::ValueId id, Dims dims, bool last = false, std::size_t like = 0);
  /// As above, with dims from the value's shape.
  void give_plain(std::size_t o, graph::ValueId id);
  void give_last(std::size_t o, graph::ValueId id);
  /// Sets output o to input i, with another type if one is given.
  void give_same(std::size_t o, std::size_t i, Type type = Type::undefined);

 private:
  const Held& held(std::size_t i) const;
  Held& value(const std::string& name);
  void declare_inputs();
  bool wants_last(const std::string& name, int depth = 0) const;
  OnnxNode with_trailing_axes(const OnnxNode& node);
  void translate();
  bool affordable(const Function& function, std::span<const Array* const> in);
  bool fold(const Function& function);
  void fold_dims(const Function& function);
  void add_function(const Function& function);
  std::vector<const Array*> call_inputs(std::vector<Array>& space, bool with_numbers);
  void give_known(std::size_t o, Array array, const std::string& weight);
  graph::ValueId place_constant(Held& held, const std::string& name, bool last, int rank);
  graph::ValueId parameter(const std::string& name, const Dims& dims, std::vector<float> values, const WeightUse& use,
                           bool keep);
  std::string fresh_name(const std::string& wish);
  std::string node_name();
  Binding binding(const Interface& interface);

  const OnnxModel& model_;
  const ImportOptions& options_;
  graph::Graph graph_;
  std::map<std::string, Held> values_;
  std::map<std::string, graph::ValueId> weights_;  // by initializer and form
  std::map<std::string, std::vector<const OnnxNode*>> readers_;
  std::set<std::string> outputs_, taken_;
  std::vector<Binding> inputs_;
  const OnnxNode* node_ = nullptr;
  std::int64_t version_ = 0;
  double folded_ = 0, file_numbers_ = 0;  // computed while importing; held by the file
};

/// Translates one operator; false: it does not support this use, so a Function must.
struct ImportRule {
  std::string_view op;
  bool (*apply)(Importer&);
};

/// The rule for that operator, or null.
const ImportRule* find_rule(std::string_view op);

}  // namespace isobar::onnx
