// Import: from an ONNX model to a graph. Files are channels-first, graphs are channels-last: images are transposed on
// import, and all axes with them, so that a network is as fast as one built here; files do not show the difference.
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
  std::int64_t batch = 0;                 ///< first extent of all inputs; 0: as in the file, or 1 if open
  bool fresh = false;                     ///< layers start from initialisers instead of the file's numbers
  std::map<std::string, Dims> dims{};     ///< for inputs whose dims the file leaves open
  std::map<std::string, Array> bound{};   ///< inputs with fixed numbers, which become constants
  std::set<std::string> differentiate{};  ///< inputs that become trained weights, to get their gradients
  /// Whether a rule may request the numbers of an input by NeedsInput even if a slower function could do without them.
  bool may_ask = false;
  std::map<std::string, std::string> names{};  ///< names of inputs in the graph, if not those of the file
};

/// An input or output of the file and its value in the graph.
struct Binding {
  std::string name;  ///< in the file
  Type type = Type::float32;
  Dims dims{};                 ///< as in the file, all known
  bool channels_last = false;  ///< the graph holds it with axis 1 last
  graph::ValueId id{};         ///< none: a constant
  Array constant{};
};

struct Imported {
  graph::Graph graph;
  std::vector<Binding> inputs, outputs;  ///< without inputs that nothing depends on
};

/// Thrown if dims depend on the numbers of an input, which must then be given in ImportOptions::bound.
struct NeedsInput : Error {
  NeedsInput(const std::string& message, std::string value_name) : Error(message), value(std::move(value_name)) {}
  std::string value;  ///< the value whose numbers are needed; it depends on inputs
};

/// Translates the nodes that the outputs depend on. The Error for unsupported operators lists all of them, by node.
Imported import_model(const OnnxModel& model, const ImportOptions& options = {});

/// One line for every node whose operator is not supported: "TopK 'node name'".
std::vector<std::string> unsupported_nodes(const OnnxModel& model);

/// The inputs of the model that a value depends on.
std::vector<std::string> inputs_behind(const OnnxModel& model, const std::string& value);

/// Whether a list contains this name.
inline bool is_one_of(std::span<const std::string_view> list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// The order of axes that turns a channels-first value into channels-last, and back.
std::vector<std::int64_t> to_last(int rank);
std::vector<std::int64_t> to_first(int rank);

/// The numbers with permuted axes: axis i of the result is axis order[i].
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
