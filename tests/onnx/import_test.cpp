// How files are imported: channels-last inside, an open batch, weights that stay tied, constants folded.
#include "isobar/onnx/import.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/onnx/evaluate.hpp"

namespace isobar::onnx {
namespace {

Interface import_floats(std::string name, Dims dims) {
  return {std::move(name), Type::float32, dims, std::vector<std::string>(dims.size()), true, true};
}

StoredTensor ones(Dims dims) {
  return stored(dims, std::vector<float>(static_cast<std::size_t>(Shape(dims).count()), 1.0f));
}

Attribute list(std::vector<std::int64_t> values) {
  return {.kind = Attribute::Kind::integers, .integers = std::move(values)};
}
Attribute whole(std::int64_t value) { return {.kind = Attribute::Kind::integer, .integer = value}; }

std::vector<std::string> kinds(const graph::Graph& graph) {
  std::vector<std::string> list;
  for (const graph::Node& node : graph.nodes()) list.push_back(node.kind);
  return list;
}

OnnxModel base(std::vector<OnnxNode> nodes, std::vector<Interface> inputs) {
  OnnxModel model{.name = "t", .producer = "", .versions = {{"", 13}}};
  model.nodes = std::move(nodes);
  model.inputs = std::move(inputs);
  model.outputs = {{"y"}};
  return model;
}

TEST(Import, ImagesAreChannelsLastFromTheInputOn) {
  OnnxModel model = base({{"c", "Conv", "", {"x", "w"}, {"h"}, {}},
                          {"s", "Add", "", {"h", "b"}, {"g"}, {}},
                          {"r", "Relu", "", {"g"}, {"y"}, {}}},
                         {import_floats("x", {2, 3, 8, 10})});
  model.initializers["w"] = ones({4, 3, 3, 3});
  model.initializers["b"] = ones({4, 1, 1});
  const Imported imported = import_model(model);
  EXPECT_EQ(kinds(imported.graph), (std::vector<std::string>{"conv", "add", "relu"})) << "nothing is turned on the way";
  EXPECT_TRUE(imported.inputs.at(0).channels_last);
  EXPECT_EQ(imported.graph.value(imported.inputs[0].id).shape, (Shape{2, 8, 10, 3}));
  EXPECT_TRUE(imported.outputs.at(0).channels_last);
  EXPECT_EQ(imported.outputs[0].dims, (Dims{2, 4, 6, 8}));
  EXPECT_EQ(imported.graph.parameter_count(), 4 * 27 + 4);
}

TEST(Import, TransposesBetweenConventionsVanish) {
  // As TensorFlow exports: transpose to channels-first, convolve, transpose back.
  OnnxModel model = base(
      {{"a", "Conv", "", {"x", "w"}, {"h"}, {}}, {"b", "Transpose", "", {"h"}, {"y"}, {{"perm", list({0, 2, 3, 1})}}}},
      {import_floats("x", {1, 3, 8, 8})});
  model.initializers["w"] = ones({4, 3, 3, 3});
  EXPECT_EQ(kinds(import_model(model).graph), (std::vector<std::string>{"conv"}));
}

TEST(Import, TheBatchOfAFixedFileCanBeAnother) {
  OnnxModel model = base({{"f", "Reshape", "", {"x", "shape"}, {"h"}, {}}, {"d", "Gemm", "", {"h", "w"}, {"y"}, {}}},
                         {import_floats("x", {1, 2, 3})});
  model.initializers["shape"] = stored(Array{Type::int64, {2}, {1, 6}});
  model.initializers["w"] = ones({6, 5});
  EXPECT_EQ(import_model(model, {.batch = 4}).outputs.at(0).dims, (Dims{4, 5}));
  EXPECT_EQ(import_model(model).outputs.at(0).dims, (Dims{1, 5}));
}

TEST(Import, TiedWeightsStayOneWeight) {
  OnnxModel model = base({{"e", "Gather", "", {"w", "x"}, {"h"}, {}},
                          {"t", "Transpose", "", {"w"}, {"wt"}, {{"perm", list({1, 0})}}},
                          {"o", "MatMul", "", {"h", "wt"}, {"y"}, {}}},
                         {{"x", Type::int64, {2, 3}, {"", ""}, true, true}});
  model.initializers["w"] = ones({7, 4});
  const Imported imported = import_model(model);
  EXPECT_EQ(kinds(imported.graph), (std::vector<std::string>{"embedding", "dense"}));
  EXPECT_EQ(imported.graph.parameter_count(), 28);
  EXPECT_EQ(imported.graph.nodes().front().in[1], imported.graph.nodes().back().in[1]);
}

TEST(Import, ShapeArithmeticIsFolded) {
  OnnxModel model = base({{"s", "Shape", "", {"x"}, {"a"}, {}},
                          {"g", "Gather", "", {"a", "zero"}, {"n"}, {}},
                          {"u", "Unsqueeze", "", {"n", "first"}, {"n1"}, {}},
                          {"c", "Concat", "", {"n1", "rest"}, {"shape"}, {{"axis", whole(0)}}},
                          {"r", "Reshape", "", {"x", "shape"}, {"y"}, {}}},
                         {import_floats("x", {5, 2, 3})});
  model.initializers["zero"] = stored(Array{Type::int64, {}, {0}});
  model.initializers["first"] = stored(Array{Type::int64, {1}, {0}});
  model.initializers["rest"] = stored(Array{Type::int64, {1}, {-1}});
  const Imported imported = import_model(model, {.batch = 7});
  EXPECT_EQ(kinds(imported.graph), (std::vector<std::string>{"reshape"}));
  EXPECT_EQ(imported.outputs.at(0).dims, (Dims{7, 6}));
}

TEST(Import, AnElementPickedByAScalarHasNoAxisLeft) {
  OnnxModel model = base({{"g", "Gather", "", {"x", "last"}, {"h"}, {}}, {"d", "MatMul", "", {"h", "w"}, {"y"}, {}}},
                         {import_floats("x", {5, 2, 3})});
  model.initializers["last"] = stored(Array{Type::int64, {}, {-1}});
  model.initializers["w"] = ones({3, 4});
  const Imported imported = import_model(model);
  EXPECT_EQ(imported.outputs.at(0).dims, (Dims{2, 4}));
  EXPECT_EQ(imported.graph.value(imported.outputs[0].id).shape, (Shape{2, 4}));
}

TEST(Import, WeightsAreTrainedAndConstantsAreNot) {
  OnnxModel model =
      base({{"k", "Constant", "", {}, {"two"}, {{"value_float", {.kind = Attribute::Kind::number, .number = 2}}}},
            {"m", "Mul", "", {"x", "two"}, {"h"}, {}},
            {"g", "Gemm", "", {"h", "w", "b"}, {"y"}, {{"transB", whole(1)}}}},
           {import_floats("x", {2, 3})});
  model.initializers["w"] = ones({4, 3});
  model.initializers["b"] = ones({4});
  const Imported imported = import_model(model);
  EXPECT_EQ(imported.graph.parameter_count(), 16);
  const Imported fresh = import_model(model, {.fresh = true});
  const graph::GraphValue& w = fresh.graph.value(fresh.graph.find("w"));
  EXPECT_FALSE(w.parameter.values) << "from scratch, a layer starts from its initialiser";
  EXPECT_TRUE(fresh.graph.value(fresh.graph.find("two")).parameter.values) << "a constant stays what it is";
}

TEST(Import, AsksForInputsThatDecideShapes) {
  OnnxModel model = base({{"r", "Reshape", "", {"x", "shape"}, {"y"}, {}}},
                         {import_floats("x", {2, 3}), {"shape", Type::int64, {2}, {""}, true, true}});
  try {
    import_model(model);
    FAIL() << "imported without knowing the shape";
  } catch (const NeedsInput& e) {
    EXPECT_EQ(e.value, "shape");
    EXPECT_NE(std::string(e.what()).find("Reshape 'r' needs the numbers of 'shape'"), std::string::npos) << e.what();
  }
  const std::vector<Array> y =
      evaluate(model, {{"x", {Type::float32, {2, 3}, {1, 2, 3, 4, 5, 6}}}, {"shape", {Type::int64, {2}, {3, 2}}}});
  EXPECT_EQ(y.at(0).dims, (Dims{3, 2}));
}

TEST(Import, OperatorsWithoutGradientSayHowToGoOn) {
  OnnxModel model = base({{"top", "TopK", "", {"h", "k"}, {"y", ""}, {}}, {"g", "Gemm", "", {"x", "w"}, {"h"}, {}}},
                         {import_floats("x", {2, 3})});
  model.initializers["k"] = stored(Array{Type::int64, {1}, {2}});
  model.initializers["w"] = ones({3, 4});
  std::reverse(model.nodes.begin(), model.nodes.end());
  try {
    gradients(model, {{"x", zeros(Type::float32, {2, 3})}}, "y", {"x"});
    FAIL() << "differentiated TopK";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("TopK ('top') has no gradient here"), std::string::npos) << e.what();
  }
}

TEST(Import, NumbersThatAreNoNumbersAreRefused) {
  OnnxModel model = base({{"r", "Reshape", "", {"x", "shape"}, {"y"}, {}}}, {import_floats("x", {2, 3})});
  model.initializers["shape"] = stored(Array{Type::float32, {1}, {std::nan("")}});
  EXPECT_THROW(import_model(model), Error);
}

TEST(Import, MasksHaveAGradient) {
  OnnxModel model = base({{"m", "Where", "", {"mask", "x", "low"}, {"h"}, {}},
                          {"s", "Softmax", "", {"h"}, {"p"}, {}},
                          {"q", "Mul", "", {"p", "p"}, {"y"}, {}}},
                         {import_floats("x", {1, 3})});
  model.initializers["mask"] = stored(Array{Type::boolean, {3}, {1, 1, 0}});
  model.initializers["low"] = stored(Array{Type::float32, {}, {-INFINITY}});
  const Array x{Type::float32, {1, 3}, {0.5, -0.5, 3}};
  const double a = 1 / (1 + std::exp(-1.0)), b = 1 - a;  // softmax of the two visible numbers
  const std::vector<Array> y = evaluate(model, {{"x", x}});
  EXPECT_NEAR(y.at(0).values[0], a * a, 1e-6);
  EXPECT_NEAR(y[0].values[2], 0, 1e-6);
  const Array slope = gradients(model, {{"x", x}}, "y", {"x"}).at("x");
  EXPECT_NEAR(slope.values[0], 2 * a * a * b - 2 * a * b * b, 1e-6);
  EXPECT_NEAR(slope.values[1], 2 * a * b * b - 2 * a * a * b, 1e-6);
  EXPECT_EQ(slope.values[2], 0);
}

TEST(Import, SmallFilesCauseLittleWork) {
  OnnxModel model = base({{"big", "ConstantOfShape", "", {"shape"}, {"y"}, {}}}, {});
  model.initializers["shape"] = stored(Array{Type::int64, {3}, {4096, 4096, 4096}});
  EXPECT_THROW(import_model(model), Error);
  OnnxModel repeated = base({}, {});
  repeated.initializers["shape"] = stored(Array{Type::int64, {2}, {2048, 2048}});
  for (int i = 0; i < 40; ++i)
    repeated.nodes.push_back({fmt::format("n{}", i), "ConstantOfShape", "", {"shape"}, {fmt::format("v{}", i)}, {}});
  OnnxNode sum{"sum", "Sum", "", {}, {"y"}, {}};
  for (int i = 0; i < 40; ++i) sum.in.push_back(fmt::format("v{}", i));
  repeated.nodes.push_back(sum);
  EXPECT_THROW(import_model(repeated), Error);
}

}  // namespace
}  // namespace isobar::onnx
