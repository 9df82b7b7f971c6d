// From protobuf messages to a Model. A file is not trusted: sizes are compared with the available bytes before anything
// is allocated, external tensors must be in the file's folder, and whatever a message lacks is an Error.
#include <algorithm>
#include <charconv>
#include <fstream>

#include "isobar/base/error.hpp"
#include "isobar/onnx/model.hpp"
#include "isobar/onnx/protobuf.hpp"
#include "isobar/onnx/structure.hpp"

namespace isobar::onnx {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t max_extent = std::int64_t{1} << 31;

std::string read_bytes(const fs::path& file, std::uint64_t offset, std::uint64_t length) {
  std::ifstream in(file, std::ios::binary);
  std::string bytes(length, '\0');
  in.seekg(offset);
  if (!in.read(bytes.data(), length)) fail("cannot read {} bytes at {} of {}", length, offset, file.string());
  return bytes;
}

// The file with a tensor's bytes: in or below the model's folder, which no link may leave.
fs::path external_file(const fs::path& folder, const std::string& location, const std::string& tensor) {
  const fs::path relative(location);
  const fs::path whole = fs::weakly_canonical(folder / relative), home = fs::weakly_canonical(folder);
  const auto [end, ignored] = std::mismatch(home.begin(), home.end(), whole.begin(), whole.end());
  if (relative.empty() || relative.is_absolute() || end != home.end())
    fail("tensor '{}' is stored in '{}', outside the model's folder; valid: a file in or below it", tensor, location);
  if (!fs::is_regular_file(whole))
    fail("tensor '{}' is stored in '{}', which is not a file beside the model", tensor, location);
  return whole;
}

std::uint64_t whole_number(const std::string& text, const std::string& tensor, const std::string& key) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail("tensor '{}': external {} = '{}' is not a whole number", tensor, key, text);
  return value;
}

std::string external_bytes(const ::onnx::TensorProto& t, const fs::path* folder, std::uint64_t expected) {
  if (!folder)
    fail("tensor '{}' is stored in another file; only models read from a file may have external tensors", t.name());
  std::string location;
  std::uint64_t offset = 0, length = expected;
  for (const auto& entry : t.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = whole_number(entry.value(), t.name(), "offset");
    if (entry.key() == "length") length = whole_number(entry.value(), t.name(), "length");
  }
  const fs::path file = external_file(*folder, location, t.name());
  const std::uint64_t there = fs::file_size(file);
  if (length != expected) fail("tensor '{}': {} external bytes, its dims need {}", t.name(), length, expected);
  if (offset > there || length > there - offset)
    fail("tensor '{}': bytes {} to {} of '{}', which has {}", t.name(), offset, offset + length, location, there);
  return read_bytes(file, offset, length);
}

template <class T, class List>
std::string packed(const List& list) {
  std::string bytes;
  bytes.reserve(list.size() * sizeof(T));
  for (const auto& element : list) {
    const T value = static_cast<T>(element);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  return bytes;
}

// Numbers in the typed fields of a message, as the bytes that raw_data would hold.
std::string typed_bytes(const ::onnx::TensorProto& t, Type type) {
  switch (type) {
    case Type::float32: return packed<float>(t.float_data());
    case Type::float64: return packed<double>(t.double_data());
    case Type::int64: return packed<std::int64_t>(t.int64_data());
    case Type::uint64: return packed<std::uint64_t>(t.uint64_data());
    case Type::uint32: return packed<std::uint32_t>(t.uint64_data());
    case Type::int32: return packed<std::int32_t>(t.int32_data());
    case Type::int16: return packed<std::int16_t>(t.int32_data());
    case Type::uint16:
    case Type::float16:
    case Type::bfloat16: return packed<std::uint16_t>(t.int32_data());
    case Type::int8: return packed<std::int8_t>(t.int32_data());
    case Type::uint8:
    case Type::boolean: return packed<std::uint8_t>(t.int32_data());
    default: return {};
  }
}

Type read_type(std::int32_t number) {
  if (number < 0 || number > static_cast<int>(Type::bfloat16)) fail("element type {} does not exist", number);
  return static_cast<Type>(number);
}

StoredTensor read_stored(::onnx::TensorProto& t, const fs::path* folder) {
  StoredTensor s{read_type(t.data_type()), {t.dims().begin(), t.dims().end()}};
  const auto expected = static_cast<std::uint64_t>(checked_count(s.dims, t.name())) * type_bytes(s.type);
  if (t.has_segment()) fail("tensor '{}' is a segment of another; that is not supported", t.name());
  if (s.type == Type::text) return s;  // kept without content, so that an error can name the node that needs it
  if (t.data_location() == ::onnx::TensorProto::EXTERNAL) s.bytes = external_bytes(t, folder, expected);
  else s.bytes = t.has_raw_data() ? std::move(*t.mutable_raw_data()) : typed_bytes(t, s.type);
  if (s.bytes.size() != expected)
    fail("tensor '{}' {} of {} has {} bytes, its dims need {}", t.name(), dims_text(s.dims), type_name(s.type),
         s.bytes.size(), expected);
  return s;
}

Attribute read_attribute(::onnx::AttributeProto& a, const fs::path* folder) {
  using Kind = Attribute::Kind;
  Attribute to;
  switch (a.type()) {
    case ::onnx::AttributeProto::FLOAT: to.kind = Kind::number, to.number = static_cast<double>(a.f()); break;
    case ::onnx::AttributeProto::INT: to.kind = Kind::integer, to.integer = a.i(); break;
    case ::onnx::AttributeProto::STRING: to.kind = Kind::text, to.text = a.s(); break;
    case ::onnx::AttributeProto::FLOATS:
      to.kind = Kind::numbers, to.numbers.assign(a.floats().begin(), a.floats().end());
      break;
    case ::onnx::AttributeProto::INTS:
      to.kind = Kind::integers, to.integers.assign(a.ints().begin(), a.ints().end());
      break;
    case ::onnx::AttributeProto::STRINGS:
      to.kind = Kind::texts, to.texts.assign(a.strings().begin(), a.strings().end());
      break;
    case ::onnx::AttributeProto::TENSOR:
      to.kind = Kind::tensor, to.tensor = std::make_shared<const StoredTensor>(read_stored(*a.mutable_t(), folder));
      break;
    default: break;
  }
  return to;
}

OnnxNode read_node(::onnx::NodeProto& n, int number, const fs::path* folder) {
  OnnxNode node{n.name().empty() ? fmt::format("{} #{}", n.op_type(), number) : n.name(),
                n.op_type(),
                n.domain(),
                {n.input().begin(), n.input().end()},
                {n.output().begin(), n.output().end()},
                {}};
  if (node.domain == "ai.onnx") node.domain.clear();
  for (auto& a : *n.mutable_attribute()) node.attributes[a.name()] = read_attribute(a, folder);
  return node;
}

Interface read_interface(const ::onnx::ValueInfoProto& v) {
  Interface to{v.name()};
  to.is_tensor = v.type().value_case() == ::onnx::TypeProto::kTensorType || v.type().value_case() == 0;
  const auto& tensor = v.type().tensor_type();
  to.type = read_type(tensor.elem_type());
  to.has_dims = tensor.has_shape();
  for (const auto& d : tensor.shape().dim()) {
    if (d.has_dim_value() && (d.dim_value() < 0 || d.dim_value() > max_extent))
      fail("'{}' has an axis of {}; valid: 0 to {}", v.name(), d.dim_value(), max_extent);
    to.dims.push_back(d.has_dim_value() ? d.dim_value() : -1);
    to.symbols.push_back(d.dim_param());
  }
  return to;
}

OnnxModel read_proto(::onnx::ModelProto& m, const fs::path* folder) {
  OnnxModel model{m.graph().name(), m.producer_name()};
  for (const auto& set : m.opset_import())
    model.versions[set.domain() == "ai.onnx" ? "" : set.domain()] = set.version();
  ::onnx::GraphProto& g = *m.mutable_graph();
  if (g.sparse_initializer_size() > 0) fail("sparse initializers are not supported");
  for (auto& t : *g.mutable_initializer()) model.initializers[t.name()] = read_stored(t, folder);
  for (const auto& v : g.input())
    if (!model.initializers.contains(v.name())) model.inputs.push_back(read_interface(v));
  for (const auto& v : g.output()) model.outputs.push_back(read_interface(v));
  int number = 0;
  for (auto& n : *g.mutable_node()) model.nodes.push_back(read_node(n, ++number, folder));
  put_in_order(model);
  return model;
}

// Protobuf's own limit is 2 GiB; larger models have external tensors.
::onnx::ModelProto parsed(std::string_view bytes, std::string_view origin) {
  ::onnx::ModelProto message;
  if (bytes.size() > static_cast<std::size_t>(max_extent - 1))
    fail("{} has {} bytes; at most 2 GiB", origin, bytes.size());
  if (!message.ParseFromArray(bytes.data(), std::ssize(bytes)) || !message.has_graph())
    fail("{} is not an ONNX model: its {} bytes are not a ModelProto with a graph", origin, bytes.size());
  return message;
}

std::string whole_file(const fs::path& file) {
  std::error_code none;
  if (!fs::is_regular_file(file, none)) fail("cannot read {}: no such file", file.string());
  return read_bytes(file, 0, fs::file_size(file));
}

}  // namespace

OnnxModel parse_model(std::string_view bytes, std::string_view origin) {
  ::onnx::ModelProto message = parsed(bytes, origin);
  try {
    return read_proto(message, nullptr);
  } catch (const Error& e) {
    fail("{}: {}", origin, e.what());
  }
}

OnnxModel read_model(const fs::path& file) {
  ::onnx::ModelProto message = parsed(whole_file(file), file.string());
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  try {
    return read_proto(message, &folder);
  } catch (const Error& e) {
    fail("{}: {}", file.string(), e.what());
  }
}

Array read_tensor(const fs::path& file) {
  ::onnx::TensorProto message;
  const std::string bytes = whole_file(file);
  if (!message.ParseFromString(bytes)) fail("{} does not hold an ONNX tensor", file.string());
  return read_stored(message, nullptr).array();
}

}  // namespace isobar::onnx
