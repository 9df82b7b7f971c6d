// Passes over graphs: each is a function from a graph to a better graph that computes the same. Passes are timed and
// can be switched off by name, and their results are verified.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/graph/graph.hpp"

namespace isobar::graph {

struct Pass {
  std::string_view name;
  std::string_view summary;
  Graph (*run)(const Graph&);
};

/// All passes in the order in which they run.
std::span<const Pass* const> passes();

/// What one pass did.
struct PassReport {
  std::string name;
  double seconds;
  std::size_t nodes_before, nodes_after;
};

/// Runs all passes except those named in `without`; an unknown name is an error that lists the known names.
Graph improve(Graph graph, std::span<const std::string> without, std::vector<PassReport>* report = nullptr);

/// For each value, the nodes that read it.
IdVector<ValueId, std::vector<NodeId>> readers(const Graph& graph);

/// Copies nodes of one graph into another, following renamed values.
class Rewriter {
 public:
  explicit Rewriter(const Graph& from);
  /// The new value that replaces an old value.
  ValueId& at(ValueId old) { return map_[old]; }
  std::vector<ValueId> at(const std::vector<ValueId>& old);
  void copy(const Node& node);
  /// Adds a node that replaces `node`'s first output, with another operator or other inputs.
  void replace(const Node& node, std::shared_ptr<const ops::Operator> op, const std::vector<ValueId>& old_inputs,
               Spec spec = {});
  /// The finished graph, with the outputs and roots of the old one.
  Graph take();

 private:
  const Graph& from_;
  Graph to_;
  IdVector<ValueId, ValueId> map_;
};

}  // namespace isobar::graph
