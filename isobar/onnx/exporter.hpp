// Exporter: the interface for the rules that write single operators; the mirror image of Importer.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "isobar/base/spec.hpp"
#include "isobar/onnx/export.hpp"

namespace isobar::onnx {

Attribute attribute(std::int64_t value);
Attribute attribute(int value);
Attribute attribute(double value);
Attribute attribute(const char* text);
Attribute attribute(std::vector<std::int64_t> values);

using Attributes = std::map<std::string, Attribute>;

class Exporter {
 public:
  Exporter(const graph::Graph& graph, const WeightReader& weights) : graph_(graph), weights_(weights) {}
  OnnxModel run(const std::vector<std::string>& outputs);

  // The current node.
  const graph::Node& node() const { return *node_; }
  Args args() const { return Args(node_->spec, "operator"); }
  std::size_t inputs() const { return node_->in.size(); }
  const Shape& shape(std::size_t i) const { return graph_.value(node_->in[i]).shape; }
  const Shape& out_shape(std::size_t o = 0) const { return graph_.value(node_->out[o]).shape; }

  // Inputs by their names in the file.
  /// With the axes of the graph.
  std::string plain(std::size_t i);
  /// Channels-first.
  std::string first(std::size_t i);
  /// Whether the file holds input i only channels-first.
  bool held_first(std::size_t i) const;
  /// In the form the file holds it.
  std::string as_held(std::size_t i = 0) { return held_first(i) ? first(i) : plain(i); }
  /// Input i in one of the two forms; a constant of lower rank first gets leading axes.
  std::string operand(std::size_t i, int rank, bool channels_first);
  /// Input i as whole numbers, for indices.
  std::string indices(std::size_t i);

  // Results.
  std::string constant(const Dims& dims, const std::vector<float>& values);
  std::string constant(const std::vector<std::int64_t>& values);
  std::string scalar(double value) { return constant({}, {static_cast<float>(value)}); }
  /// Adds a node with one output and returns the output's name.
  std::string emit(const char* op, std::vector<std::string> in, Attributes attributes = {});
  /// Adds a node with several outputs.
  std::vector<std::string> emit_many(const char* op, std::vector<std::string> in, std::size_t outputs,
                                     Attributes attributes = {});
  /// Adds a node as it was in a file.
  std::vector<std::string> emit_node(OnnxNode node);
  void give_plain(std::size_t o, const std::string& name) { held_[node_->out[o]].plain = name; }
  void give_first(std::size_t o, const std::string& name);
  void give(std::size_t o, const std::string& name, bool channels_first) {
    channels_first ? give_first(o, name) : give_plain(o, name);
  }
  /// Declares that the file is valid for this batch size only.
  void fix_batch() { batch_fixed_ = true; }

 private:
  struct Named {
    std::string plain, first;
  };
  std::string fresh_name(const std::string& wish);
  Named& held(std::size_t i);
  void declare(graph::ValueId id);
  bool wants_first(graph::ValueId id, int depth = 0) const;
  bool only_indices(graph::ValueId id) const;

  const graph::Graph& graph_;
  const WeightReader& weights_;
  OnnxModel model_;
  std::map<graph::ValueId, Named> held_;
  std::map<std::string, std::string> indices_;  // value -> its whole numbers
  std::set<std::string> taken_;
  const graph::Node* node_ = nullptr;
  bool batch_fixed_ = false;
};

/// Writes one operator of the catalogue.
struct ExportRule {
  std::string_view kind;
  void (*write)(Exporter&);
};

/// The rule for that operator, or null.
const ExportRule* find_export_rule(std::string_view kind);

}  // namespace isobar::onnx
