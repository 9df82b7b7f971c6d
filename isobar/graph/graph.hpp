// Graph: named operators connected by values; built once, then only read. Nodes are in an order in which they can run.
// Passes make a new graph from an old one.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/base/ids.hpp"
#include "isobar/ops/op.hpp"

namespace isobar::graph {

struct Node;
struct GraphValue;
using NodeId = Id<Node>;
using ValueId = Id<GraphValue>;

struct GraphValue {
  enum class Role { input, parameter, activation } role;
  std::string name;
  Shape shape;
  ops::Parameter parameter{};  ///< for parameters: initial values, whether it is trained
};

struct Node {
  std::string name;
  std::string kind;  ///< the operator's name in the catalogue
  std::shared_ptr<const ops::Operator> op;
  std::vector<ValueId> in, out;  ///< `in`: data inputs, then weights
  Spec spec{};                   ///< as given to add(), with all defaults; empty for operators made by passes
};

class Graph {
 public:
  /// A tensor supplied from outside at every step.
  ValueId input(std::string name, Shape shape);
  /// A weight to be shared by several operators; an operator creates its own weights unless they are passed to add().
  ValueId parameter(std::string name, ops::Parameter parameter);

  /// Applies the operator a Spec names. Weights missing from `in` are created and called name.w, name.b, ...
  /// Without a name the node is named after the operator and a number. Returns the first output.
  ValueId add(const Spec& spec, std::vector<ValueId> in, std::string name = "");
  ValueId add(const Spec& spec, ValueId in, std::string name = "") {
    return add(spec, std::vector{in}, std::move(name));
  }
  /// Like add(), for an existing operator; used by passes.
  ValueId add_node(std::string name, std::string kind, std::shared_ptr<const ops::Operator> op, std::vector<ValueId> in,
                   Spec spec = {});

  /// Names a value that is kept so that it can be read after a run.
  void output(std::string name, ValueId value);
  /// Names the loss, which training minimises.
  void loss(ValueId value) { output("loss", value); }
  /// The backward pass begins at this value too: a number to be minimised beside the loss, or what is sent to another
  /// rank, which sends its gradient. The forward pass makes it, but need not keep it.
  void root(ValueId value);
  /// How many rows a batch has, for a graph without inputs.
  void set_rows(std::int64_t rows);

  const IdVector<ValueId, GraphValue>& values() const { return values_; }
  const IdVector<NodeId, Node>& nodes() const { return nodes_; }
  const GraphValue& value(ValueId id) const { return values_[id]; }
  const Node& node(NodeId id) const { return nodes_[id]; }
  const std::map<std::string, ValueId>& outputs() const { return outputs_; }
  /// Those of root(); the loss is one without being among them.
  const std::vector<ValueId>& roots() const { return roots_; }
  /// Rows of a batch, padding included: as set, or the first extent of the first input; 1 if there is neither.
  std::int64_t rows() const;
  /// The value of that name; an unknown name is an Error that suggests known inputs and outputs.
  ValueId find(std::string_view name) const;
  /// Whether it is an output or a root, and so must be made as it is.
  bool is_wanted(ValueId id) const;
  /// Number of trained numbers in all weights; running statistics and frozen weights do not count.
  std::int64_t parameter_count() const;

 private:
  void unique(const std::string& name) const;

  IdVector<ValueId, GraphValue> values_;
  IdVector<NodeId, Node> nodes_;
  std::map<std::string, ValueId> outputs_;
  std::vector<ValueId> roots_;
  std::int64_t rows_ = 0;  // 0: those of the first input
};

/// Throws logic_error unless every value is written before it is read and all shapes are those that operators infer.
void verify(const Graph& graph);

}  // namespace isobar::graph
