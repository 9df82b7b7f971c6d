// Function: what an ONNX operator computes, written plainly on arrays of doubles. Functions fold constants while a file
// is imported, and they run inside the graph, forward only, where no operator of the catalogue does the same.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "isobar/onnx/array.hpp"
#include "isobar/onnx/model.hpp"

namespace isobar::onnx {

/// Thrown when something can only be decided with the numbers of an input that is not known yet.
struct NeedsValue : std::runtime_error {
  explicit NeedsValue(int index) : std::runtime_error("needs the numbers of an input"), input(index) {}
  int input;
};

/// One use of an operator: its node, the version of its operator set, and its inputs (null where left out).
struct Call {
  const OnnxNode& node;
  std::int64_t version;
  std::span<const Array* const> in;

  bool has(std::size_t i) const { return i < in.size() && in[i] != nullptr; }
  /// Input i; throws Error naming the node when it is left out.
  const Array& operator[](std::size_t i) const;
  /// Input i with its numbers; throws NeedsValue when they are not known.
  const Array& known(std::size_t i) const;
  /// Whole numbers from attribute `name` or, when that is absent, from input i; nothing when both are.
  std::optional<std::vector<std::int64_t>> integers(const char* name, std::size_t i) const;
};

/// An operator by its name in the default operator set of ONNX.
struct Function {
  std::string_view op;
  /// Types and dims of the outputs, `known` false and no numbers; throws Error when the inputs do not fit and
  /// NeedsValue when dims depend on numbers that are not known.
  std::vector<Array> (*infer)(const Call&);
  /// The outputs; all inputs are known. Numbers are already stored_as() their type.
  std::vector<Array> (*run)(const Call&);
};

/// The function of that name, or null.
const Function* find_function(std::string_view op);

/// Runs a function after checking that the outputs are of a size that may be computed while importing.
std::vector<Array> run_function(const Function& function, const Call& call);

}  // namespace isobar::onnx
