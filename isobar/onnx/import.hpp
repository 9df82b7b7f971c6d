// Import: from an ONNX model to a graph. Files are channels-first, graphs are channels-last: images turn on their way
// in and every axis with them, so that a network is as fast as one built here, and files never show it.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/graph/graph.hpp"
#include "isobar/onnx/array.hpp"
#include "isobar/onnx/model.hpp"

namespace isobar::onnx {

struct ImportOptions {
  std::int64_t batch = 0;                 ///< first extent of all inputs; 0: as in the file, 1 where it is free
  bool fresh = false;                     ///< layers start from initialisers and not from the file's numbers
  std::map<std::string, Dims> dims{};     ///< of inputs whose dims the file leaves open
  std::map<std::string, Array> bound{};   ///< inputs with fixed numbers: they become constants
  std::set<std::string> differentiate{};  ///< inputs that become trained weights: their gradient is wanted
  /// Whether a rule may ask for the numbers of an input by NeedsInput even where a slower function could do without.
  bool may_ask = false;
  std::map<std::string, std::string> names{};  ///< what inputs are called in the graph, when not as in the file
};

/// An input or output of the file and where it is in the graph.
struct Binding {
  std::string name;  ///< in the file
  Type type = Type::float32;
  Dims dims{};                 ///< as in the file, all known
  bool channels_last = false;  ///< whether the graph holds it with axis 1 last
  graph::ValueId id{};         ///< none: it is a constant
  Array constant{};
};

struct Imported {
  graph::Graph graph;
  std::vector<Binding> inputs, outputs;  ///< inputs nothing depends on are left out
};

/// Thrown when dims depend on the numbers of an input: give them in ImportOptions::bound.
struct NeedsInput : Error {
  NeedsInput(const std::string& message, std::string value_name) : Error(message), value(std::move(value_name)) {}
  std::string value;  ///< the value whose numbers are needed; it depends on inputs
};

/// Translates the nodes its outputs depend on. Operators that are not supported are listed all at once, by node.
Imported import_model(const OnnxModel& model, const ImportOptions& options = {});

/// One line for every node whose operator is not supported: "TopK 'node name'".
std::vector<std::string> unsupported_nodes(const OnnxModel& model);

/// The inputs of the model that a value depends on.
std::vector<std::string> inputs_behind(const OnnxModel& model, const std::string& value);

/// Whether a list of names holds this one.
inline bool is_one_of(std::span<const std::string_view> list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// Order of axes that turns a channels-first value into a channels-last one, and back.
std::vector<std::int64_t> to_last(int rank);
std::vector<std::int64_t> to_first(int rank);

/// The numbers with their axes in another order: axis i of the result is axis order[i].
template <class T>
std::vector<T> turned(const std::vector<T>& values, const Dims& dims, const std::vector<std::int64_t>& order) {
  const std::size_t rank = dims.size();
  std::vector<std::size_t> pitch(rank, 1), step(rank);
  for (std::size_t a = rank; a-- > 1;) pitch[a - 1] = pitch[a] * dims[a];
  for (std::size_t a = 0; a < rank; ++a) step[a] = pitch[order[a]];
  std::vector<T> result;
  result.reserve(values.size());
  std::vector<std::int64_t> at(rank, 0);
  std::size_t from = 0;
  while (result.size() < values.size()) {
    result.push_back(values[from]);
    for (std::size_t a = rank; a-- > 0;) {
      from += step[a];
      if (++at[a] < dims[order[a]]) break;
      from -= step[a] * at[a];
      at[a] = 0;
    }
  }
  return result;
}

}  // namespace isobar::onnx
