// From a Model to protobuf messages.
#include <fstream>

#include "isobar/base/error.hpp"
#include "isobar/onnx/model.hpp"
#include "isobar/onnx/protobuf.hpp"

namespace isobar::onnx {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t written_ir = 8;

void write_stored(const std::string& name, const StoredTensor& s, ::onnx::TensorProto& t) {
  t.set_name(name);
  t.set_data_type(static_cast<std::int32_t>(s.type));
  for (const std::int64_t d : s.dims) t.add_dims(d);
  t.set_raw_data(s.bytes);
}

void write_attribute(const std::string& name, const Attribute& from, ::onnx::AttributeProto& a) {
  using Kind = Attribute::Kind;
  a.set_name(name);
  switch (from.kind) {
    case Kind::number: a.set_type(a.FLOAT), a.set_f(static_cast<float>(from.number)); return;
    case Kind::integer: a.set_type(a.INT), a.set_i(from.integer); return;
    case Kind::text: a.set_type(a.STRING), a.set_s(from.text); return;
    case Kind::numbers:
      a.set_type(a.FLOATS);
      for (const double v : from.numbers) a.add_floats(static_cast<float>(v));
      return;
    case Kind::integers:
      a.set_type(a.INTS);
      for (const std::int64_t v : from.integers) a.add_ints(v);
      return;
    case Kind::texts:
      a.set_type(a.STRINGS);
      for (const std::string& v : from.texts) a.add_strings(v);
      return;
    case Kind::tensor: a.set_type(a.TENSOR), write_stored("", *from.tensor, *a.mutable_t()); return;
    case Kind::other: break;
  }
  fail("attribute '{}' is of a kind that cannot be written", name);
}

void write_interface(const Interface& from, ::onnx::ValueInfoProto& v) {
  v.set_name(from.name);
  auto& tensor = *v.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(static_cast<std::int32_t>(from.type));
  if (!from.has_dims) return;
  tensor.mutable_shape();
  for (std::size_t i = 0; i < from.dims.size(); ++i) {
    auto& d = *tensor.mutable_shape()->add_dim();
    if (from.dims[i] >= 0) d.set_dim_value(from.dims[i]);
    else
      d.set_dim_param(i < from.symbols.size() && !from.symbols[i].empty() ? from.symbols[i]
                                                                          : "axis" + std::to_string(i));
  }
}

::onnx::ModelProto message(const OnnxModel& model) {
  ::onnx::ModelProto m;
  m.set_ir_version(written_ir);
  m.set_producer_name(model.producer);
  for (const auto& [domain, version] : model.versions) {
    auto& set = *m.add_opset_import();
    set.set_domain(domain);
    set.set_version(version);
  }
  ::onnx::GraphProto& g = *m.mutable_graph();
  g.set_name(model.name);
  for (const Interface& v : model.inputs) write_interface(v, *g.add_input());
  for (const Interface& v : model.outputs) write_interface(v, *g.add_output());
  for (const auto& [name, s] : model.initializers) write_stored(name, s, *g.add_initializer());
  for (const OnnxNode& node : model.nodes) {
    ::onnx::NodeProto& n = *g.add_node();
    n.set_name(node.name);
    n.set_op_type(node.op);
    if (!node.domain.empty()) n.set_domain(node.domain);
    for (const std::string& name : node.in) n.add_input(name);
    for (const std::string& name : node.out) n.add_output(name);
    for (const auto& [name, a] : node.attributes) write_attribute(name, a, *n.add_attribute());
  }
  return m;
}

}  // namespace

std::string model_bytes(const OnnxModel& model) {
  std::string bytes;
  if (!message(model).SerializeToString(&bytes)) fail("the model has more than the 2 GiB an ONNX file can hold");
  return bytes;
}

void write_model(const OnnxModel& model, const fs::path& file) {
  const std::string bytes = model_bytes(model);
  const fs::path part = file.string() + ".part";
  {
    std::ofstream out(part, std::ios::binary);
    out.write(bytes.data(), bytes.size());
    out.close();
    if (!out) {
      std::error_code none;
      fs::remove(part, none);
      fail("cannot write {} ({} bytes): does the folder exist, and is there space?", file.string(), bytes.size());
    }
  }
  fs::rename(part, file);
}

}  // namespace isobar::onnx
