// Model: an ONNX file as plain structs, structurally checked: names resolve, nodes are in an order in which they can
// run, tensors have as many bytes as their dims say. It hides protobuf from all other code.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/onnx/array.hpp"

namespace isobar::onnx {

/// A tensor as stored in a file: little-endian bytes in row-major order.
struct StoredTensor {
  Type type = Type::undefined;
  Dims dims{};
  std::string bytes{};

  Array array() const;
  std::vector<float> floats() const;
};

/// An attribute; `kind` says which member holds it.
struct Attribute {
  enum class Kind { number, integer, text, tensor, numbers, integers, texts, other } kind = Kind::other;
  double number = 0;
  std::int64_t integer = 0;
  std::string text{};
  std::vector<double> numbers{};
  std::vector<std::int64_t> integers{};
  std::vector<std::string> texts{};
  std::shared_ptr<const StoredTensor> tensor{};
};

struct OnnxNode {
  std::string name;  ///< as in the file, or "Conv #3" if it has none
  std::string op, domain;
  std::vector<std::string> in, out;  ///< "" if omitted
  std::map<std::string, Attribute> attributes;

  bool has(const char* attribute) const { return attributes.contains(attribute); }
  /// Attributes with a default; throws Error if the attribute is of another kind or beyond 2^31.
  std::int64_t integer(const char* name, std::int64_t otherwise) const;
  double number(const char* name, double otherwise) const;
  std::string text(const char* name, std::string_view otherwise) const;
  std::vector<std::int64_t> integers(const char* name, std::vector<std::int64_t> otherwise) const;
  std::vector<double> numbers(const char* name, std::vector<double> otherwise) const;
};

/// An input or output of the model. An extent of -1 is open; `symbols` may then name it.
struct Interface {
  std::string name;
  Type type = Type::undefined;
  Dims dims{};
  std::vector<std::string> symbols{};
  bool has_dims = false;  ///< files may even omit the number of axes
  bool is_tensor = true;  ///< otherwise a sequence, map or optional
};

struct OnnxModel {
  std::string name, producer;
  std::map<std::string, std::int64_t> versions{};  ///< operator set -> version; the default set is ""
  std::vector<OnnxNode> nodes{};
  std::map<std::string, StoredTensor> initializers{};
  std::vector<Interface> inputs{}, outputs{};  ///< without inputs that are initializers
};

/// Reads a model file. External tensors are read only from the file's folder.
OnnxModel read_model(const std::filesystem::path& file);
/// Reads a model from bytes; external tensors are an Error. `origin` stands for the file in messages.
OnnxModel parse_model(std::string_view bytes, std::string_view origin);
/// Writes a model file, whole or not at all.
void write_model(const OnnxModel& model, const std::filesystem::path& file);
std::string model_bytes(const OnnxModel& model);

/// Reads a file that holds one tensor, as the ONNX test data does.
Array read_tensor(const std::filesystem::path& file);

/// The numbers as a tensor of a file, and back.
StoredTensor stored(const Array& array);
StoredTensor stored(const Dims& dims, const std::vector<float>& values);

}  // namespace isobar::onnx
