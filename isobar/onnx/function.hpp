// Function: what an ONNX operator computes, as a simple implementation on arrays of doubles. Functions fold constants
// while a file is imported, and run inside the graph, forward only, where the catalogue has no operator for it.
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

/// Thrown if something depends on the numbers of an input that are not known yet.
struct NeedsValue : std::runtime_error {
  explicit NeedsValue(int index) : std::runtime_error("needs the numbers of an input"), input(index) {}
  int input;
};

/// One use of an operator: its node, the version of its operator set, and its inputs (null if omitted).
struct Call {
  const OnnxNode& node;
  std::int64_t version;
  std::span<const Array* const> in;

  bool has(std::size_t i) const { return i < in.size() && in[i] != nullptr; }
  /// Input i; throws Error naming the node if it is omitted.
  const Array& operator[](std::size_t i) const;
  /// Input i with its numbers; throws NeedsValue if they are not known.
  const Array& known(std::size_t i) const;
  /// Whole numbers from attribute `name` or, if that is absent, from input i; nothing if both are absent.
  std::optional<std::vector<std::int64_t>> integers(const char* name, std::size_t i) const;
};

/// An operator by its name in the default operator set of ONNX.
struct Function {
  std::string_view op;
  /// Types and dims of the outputs, with `known` false and no numbers; throws Error if the inputs do not fit, and
  /// NeedsValue if dims depend on numbers that are not known.
  std::vector<Array> (*infer)(const Call&);
  /// The outputs, when all inputs are known. Their numbers are already stored_as() their type.
  std::vector<Array> (*run)(const Call&);
};

/// The function of that name, or null.
const Function* find_function(std::string_view op);

/// Runs a function after checking that the outputs are small enough to be computed while importing.
std::vector<Array> run_function(const Function& function, const Call& call);

}  // namespace isobar::onnx
