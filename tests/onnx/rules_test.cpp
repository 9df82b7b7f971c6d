// Rules: there is one table, names are unique, and windows of nodes become windows of Specs.
#include <set>

#include <gtest/gtest.h>

#include "isobar/onnx/importer.hpp"
#include "isobar/onnx/node_window.hpp"

namespace isobar::onnx {
namespace {

TEST(Rules, AreFoundByTheNameOfTheOperator) {
  for (const char* op : {"Conv", "Gemm", "Relu", "Softmax", "LSTM", "BatchNormalization", "Reshape", "MaxPool"}) {
    const ImportRule* rule = find_rule(op);
    ASSERT_NE(rule, nullptr) << op;
    EXPECT_EQ(rule->op, op);
  }
  EXPECT_EQ(find_rule("TopK"), nullptr) << "a function does that";
  EXPECT_EQ(find_rule(""), nullptr);
}

TEST(Rules, WindowsAreWrittenAsArguments) {
  const NodeWindow w{{3, 5}, {1, 2}, {1, 1}, {0, 2}, {1, 2}};
  EXPECT_EQ(w.arguments(), "stride=[1, 2], dilation=[1, 1], padding=[0, 2], padding_after=[1, 2]");
  EXPECT_FALSE(w.crops());
  EXPECT_TRUE((NodeWindow{{3}, {1}, {1}, {-1}, {0}}.crops()));
}

// The output of one Conv with auto_pad over 7 columns, kernel 3, stride 2.
Dims padded(const char* mode) {
  OnnxModel model{.name = "t", .producer = "", .versions = {{"", 13}}};
  model.inputs = {{"x", Type::float32, {1, 1, 7}, {"", "", ""}, true, true}};
  model.outputs = {{"y"}};
  model.initializers["w"] = stored(Dims{1, 1, 3}, {1, 1, 1});
  model.nodes = {{"c",
                  "Conv",
                  "",
                  {"x", "w"},
                  {"y"},
                  {{"auto_pad", {.kind = Attribute::Kind::text, .text = mode}},
                   {"strides", {.kind = Attribute::Kind::integers, .integers = {2}}}}}};
  return import_model(model).outputs.at(0).dims;
}

TEST(Rules, PaddingFollowsAutoPad) {
  EXPECT_EQ(padded("VALID"), (Dims{1, 1, 3}));
  EXPECT_EQ(padded("SAME_UPPER"), (Dims{1, 1, 4}));
  EXPECT_EQ(padded("SAME_LOWER"), (Dims{1, 1, 4}));
  EXPECT_THROW(padded("SOMEHOW"), Error);
}

}  // namespace
}  // namespace isobar::onnx
