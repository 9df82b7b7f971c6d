// Model files: what is written is read back; a broken file is an error with a clear message before anything is
// allocated.
#include "isobar/onnx/model.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/onnx/import.hpp"

#include "tests/temporary_folder.hpp"

namespace isobar::onnx {
namespace {

namespace fs = std::filesystem;

// x [2, 3] -> Relu -> y, and an initializer.
OnnxModel small() {
  OnnxModel model{.name = "small", .producer = "test", .versions = {{"", 13}}};
  model.inputs = {{"x", Type::float32, {2, 3}, {"", ""}, true, true}};
  model.outputs = {{"y", Type::float32, {2, 3}, {"", ""}, true, true}};
  model.initializers["w"] = stored(Dims{3}, {1, 2, 3});
  model.nodes = {{"first", "Mul", "", {"x", "w"}, {"h"}, {}}, {"second", "Relu", "", {"h"}, {"y"}, {}}};
  return model;
}

std::string refusal(const OnnxModel& model) {
  try {
    import_model(parse_model(model_bytes(model), "file"));
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

#define EXPECT_REFUSED(model, part) EXPECT_NE(refusal(model).find(part), std::string::npos) << refusal(model)

TEST(ModelFile, ComesBackAsWritten) {
  OnnxModel model = small();
  model.nodes[1].attributes = {{"i", {.kind = Attribute::Kind::integer, .integer = 7}},
                               {"f", {.kind = Attribute::Kind::number, .number = 0.5}},
                               {"s", {.kind = Attribute::Kind::text, .text = "word"}},
                               {"is", {.kind = Attribute::Kind::integers, .integers = {1, -2}}},
                               {"fs", {.kind = Attribute::Kind::numbers, .numbers = {1.5}}},
                               {"ss", {.kind = Attribute::Kind::texts, .texts = {"a", "b"}}}};
  const OnnxModel back = parse_model(model_bytes(model), "file");
  EXPECT_EQ(back.producer, "test");
  EXPECT_EQ(back.versions.at(""), 13);
  EXPECT_EQ(back.inputs.at(0).dims, (Dims{2, 3}));
  EXPECT_EQ(back.initializers.at("w").floats(), (std::vector<float>{1, 2, 3}));
  const OnnxNode& node = back.nodes.at(1);
  EXPECT_EQ(node.integer("i", 0), 7);
  EXPECT_EQ(node.number("f", 0), 0.5);
  EXPECT_EQ(node.text("s", ""), "word");
  EXPECT_EQ(node.integers("is", {}), (std::vector<std::int64_t>{1, -2}));
  EXPECT_EQ(node.numbers("fs", {}), (std::vector<double>{1.5}));
  EXPECT_EQ(node.integer("absent", 3), 3);
  EXPECT_THROW(node.integer("f", 0), Error);
}

TEST(ModelFile, HoldsNumbersOfEveryType) {
  for (const Type type : {Type::float32, Type::float64, Type::float16, Type::bfloat16, Type::int8, Type::uint8,
                          Type::int16, Type::uint16, Type::int32, Type::uint32, Type::int64, Type::uint64}) {
    const Array array{type, {3}, {0, 1, 96}};
    EXPECT_EQ(stored(array).array().values, array.values) << type_name(type);
    EXPECT_EQ(stored(array).bytes.size(), 3 * type_bytes(type));
  }
  EXPECT_EQ(stored(Array{Type::boolean, {2}, {0, 5}}).array().values, (std::vector<double>{0, 1}));
  EXPECT_EQ(stored(Array{Type::float16, {4}, {1e-7, 65504, 1e6, -0.1}}).array().values[1], 65504);
  EXPECT_NEAR(stored(Array{Type::float16, {1}, {6e-8}}).array().values[0], 5.96e-8, 1e-10);
  EXPECT_TRUE(std::isinf(stored(Array{Type::float16, {1}, {1e6}}).array().values[0]));
  EXPECT_NEAR(stored(Array{Type::float16, {1}, {-0.1}}).array().values[0], -0.1, 5e-5);
  EXPECT_EQ(stored(Array{Type::int8, {1}, {1000}}).array().values[0], 127);
}

TEST(ModelFile, NodesInAnyOrderAreSorted) {
  OnnxModel model = small();
  std::swap(model.nodes[0], model.nodes[1]);
  EXPECT_EQ(parse_model(model_bytes(model), "file").nodes[0].name, "first");
}

TEST(ModelFile, RefusesTruncatedFiles) {
  const std::string bytes = model_bytes(small());
  std::size_t refused = 0;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    try {
      import_model(parse_model(std::string_view(bytes).substr(0, length), "file"));
    } catch (const Error&) {
      ++refused;
    }
  }
  // Only a cut between the last fields, after the graph, leaves a whole model.
  EXPECT_GE(refused + 20, bytes.size());
  EXPECT_THROW(parse_model("this is no model", "file"), Error);
  EXPECT_THROW(parse_model("", "file"), Error);
}

TEST(ModelFile, RefusesABrokenStructure) {
  OnnxModel circle = small();
  circle.nodes[0].in[0] = "y";
  EXPECT_REFUSED(circle, "cycle: first, second");
  OnnxModel twice = small();
  twice.nodes[1].out[0] = "h";
  EXPECT_REFUSED(twice, "'h'");
  OnnxModel nowhere = small();
  nowhere.nodes[1].in[0] = "nothing";
  EXPECT_REFUSED(nowhere, "node 'second' reads 'nothing', which nothing writes");
  OnnxModel without = small();
  without.outputs[0].name = "z";
  EXPECT_REFUSED(without, "output 'z' is never written");
}

TEST(ModelFile, RefusesTensorsThatAreNotWhatTheySay) {
  OnnxModel less = small();
  less.initializers["w"].bytes.resize(7);
  EXPECT_REFUSED(less, "'w' [3] of float32 has 7 bytes, its dims need 12");
  OnnxModel huge = small();
  huge.initializers["w"].dims = {1 << 30, 1 << 30, 1 << 30};
  EXPECT_REFUSED(huge, "w");
  OnnxModel negative = small();
  negative.initializers["w"].dims = {-3};
  EXPECT_REFUSED(negative, "-3");
  OnnxModel wide = small();
  wide.inputs[0].dims = {std::int64_t{1} << 40, 3};
  EXPECT_REFUSED(wide, "axis of 1099511627776");
}

TEST(ModelFile, RefusesTensorsOfNoNumbers) {
  for (const Type type : {Type::undefined, Type::text, Type::complex64}) {
    OnnxModel model = small();
    model.initializers["w"] = {type, {1 << 29}, {}};
    EXPECT_NE(refusal(model), "accepted") << type_name(type);
  }
}

TEST(ModelFile, RefusesShapesThatDoNotFit) {
  OnnxModel shapes = small();
  shapes.inputs[0].dims = {2, 4};
  EXPECT_REFUSED(shapes, "Mul 'first': inputs [2,4] and [3] do not broadcast");
}

TEST(ModelFile, ListsAllThatIsNotSupportedAtOnce) {
  OnnxModel model = small();
  model.nodes[0].op = "Frobnicate";
  model.nodes[1].op = "Loop";
  EXPECT_REFUSED(model, "2 nodes are not supported: Frobnicate 'first', Loop 'second'");
  model.versions[""] = 99;
  EXPECT_REFUSED(model, "operator set 99 is not supported; valid: 1 to 17");
}

// A model with a tensor that claims to be stored at `location` beside the model.
std::string external(const std::string& location, const std::string& length) {
  std::string bytes = model_bytes(small());
  // The graph's initializer is encoded by hand: data_location = EXTERNAL and one entry per key.
  const auto field = [](int number, const std::string& text) {
    return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(text.size())} + text;
  };
  const auto entry = [&](const std::string& key, const std::string& value) {
    return field(13, field(1, key) + field(2, value));
  };
  const std::string tensor = std::string("\x08\x03\x10\x01", 4) + field(8, "w") + entry("location", location) +
                             (length.empty() ? "" : entry("length", length)) + std::string("\x70\x01", 2);
  OnnxModel rest = small();
  rest.initializers.clear();
  bytes = model_bytes(rest);
  return bytes + field(7, field(5, tensor));  // another piece of the graph: messages merge
}

std::string refusal_of_file(const fs::path& file) {
  try {
    read_model(file);
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(ModelFile, ExternalTensorsStayInTheFolder) {
  const tests::TemporaryFolder folder;
  fs::create_directories(folder / "model");
  const float numbers[] = {1, 2, 3};
  for (const char* name : {"model/w.bin", "outside.bin"})
    std::ofstream(folder / name, std::ios::binary).write(reinterpret_cast<const char*>(numbers), sizeof numbers);
  fs::create_symlink(folder / "outside.bin", folder / "model/link.bin");
  const auto read = [&](const std::string& location, const std::string& length = "") {
    std::ofstream(folder / "model/m.onnx", std::ios::binary) << external(location, length);
    return refusal_of_file(folder / "model/m.onnx");
  };
  EXPECT_EQ(read("w.bin"), "accepted");
  EXPECT_EQ(read_model(folder / "model/m.onnx").initializers.at("w").floats(), (std::vector<float>{1, 2, 3}));
  EXPECT_NE(read("../outside.bin").find("outside the model's folder"), std::string::npos);
  EXPECT_NE(read((folder / "outside.bin").string()).find("outside the model's folder"), std::string::npos);
  EXPECT_NE(read("link.bin").find("outside the model's folder"), std::string::npos);
  EXPECT_NE(read("absent.bin").find("not a file beside the model"), std::string::npos);
  EXPECT_NE(read("w.bin", "8").find("8 external bytes, its dims need 12"), std::string::npos);
  EXPECT_NE(read("w.bin", "x").find("not a whole number"), std::string::npos);
  EXPECT_THROW(parse_model(external("w.bin", ""), "bytes"), Error);
}

TEST(ModelFile, SaysWhatItCannotRead) {
  EXPECT_NE(refusal_of_file("/nowhere/m.onnx").find("no such file"), std::string::npos);
  EXPECT_THROW(write_model(small(), "/nowhere/m.onnx"), Error);
  EXPECT_FALSE(fs::exists("/nowhere"));
}

}  // namespace
}  // namespace isobar::onnx
