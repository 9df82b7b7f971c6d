// Shapes at landmarks of the published networks, and the terms of their losses.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "isobar/zoo/segmentation.hpp"

#include "tests/zoo/built.hpp"

namespace isobar::zoo {
namespace {

struct Landmark {
  const char* value;
  Shape shape;
};

void expect_shapes(const Spec& spec, const std::vector<Landmark>& landmarks) {
  const graph::Graph g = built(spec);
  for (const auto& [value, shape] : landmarks) EXPECT_EQ(shape_of(g, value), shape) << spec.str() << " " << value;
}

int count(const graph::Graph& g, std::string_view kind) {
  return static_cast<int>(
      std::count_if(g.nodes().begin(), g.nodes().end(), [&](const auto& n) { return n.kind == kind; }));
}

TEST(Tiramisu, GoesDownAndUp) {
  expect_shapes("tiramisu", {{"stem", {1, 768, 1152, 64}},
                             {"down0_1_all", {1, 768, 1152, 128}},
                             {"reduce0", {1, 384, 576, 128}},
                             {"down3_3_all", {1, 96, 144, 384}},
                             {"down4_4_all", {1, 48, 72, 544}},
                             {"down4_added", {1, 48, 72, 160}},
                             {"enlarge3", {1, 96, 144, 160}},
                             {"join3", {1, 96, 144, 544}},
                             {"join0", {1, 768, 1152, 192}},
                             {"up0_1_all", {1, 768, 1152, 256}},
                             {"prediction", {1, 768, 1152, 3}}});
}

TEST(DeepLabV3Plus, KeepsOutputStrideEight) {
  expect_shapes("deeplabv3plus", {{"root", {1, 384, 576, 64}},
                                  {"block1_3_a_relu", {1, 192, 288, 64}},
                                  {"block1_3", {1, 96, 144, 256}},
                                  {"block4_3", {1, 96, 144, 2048}},
                                  {"pyramid", {1, 96, 144, 1280}},
                                  {"join_low", {1, 192, 288, 304}},
                                  {"join_input", {1, 768, 1152, 384}},
                                  {"prediction", {1, 768, 1152, 3}}});
}

// 70 convolutions and transposed convolutions, four of which project shortcuts: the 66 layers of the slides.
TEST(DeepLabV3Plus, HasSixtySixLayers) {
  const graph::Graph g = built("deeplabv3plus");
  EXPECT_EQ(count(g, "conv") + count(g, "deconv") - 4, 66);
  EXPECT_EQ(count(g, "batch_norm"), 0);
  std::int64_t pyramid = 0;
  for (const graph::GraphValue& v : g.values())
    if (v.role == graph::GraphValue::Role::parameter && (v.name.starts_with("pyramid") || v.name.starts_with("image")))
      pyramid += v.shape.count();
  EXPECT_EQ(pyramid, 15'532'032);
}

TEST(DeepCam, HasOutputStrideSixteen) {
  expect_shapes("deepcam", {{"conv2", {1, 384, 576, 64}},
                            {"block1", {1, 192, 288, 128}},
                            {"block3", {1, 48, 72, 728}},
                            {"block20", {1, 48, 72, 1024}},
                            {"conv5", {1, 48, 72, 2048}},
                            {"pyramid", {1, 48, 72, 1280}},
                            {"join_low", {1, 192, 288, 304}},
                            {"prediction", {1, 768, 1152, 3}}});
  EXPECT_EQ(make_network("deepcam")->loss(), Spec("softmax_cross_entropy(weights=[1.00173, 2.61461, 1.71642])"));
}

TEST(Segmentation, WeighsClassesAsTheExascaleRuns) {
  const Spec expected("softmax_cross_entropy(weights=[0.021797, 0.812046, 0.166157], reduction=sum, scale=0.1)");
  EXPECT_EQ(make_network("tiramisu")->loss(), expected);
  EXPECT_EQ(make_network("deeplabv3plus")->loss(), expected);
  EXPECT_EQ(exascale_loss(4), Spec("softmax_cross_entropy(reduction=sum, scale=0.1)")) << "frequencies of three only";
}

TEST(ClimateDetector, EncodesDetectsAndRebuilds) {
  expect_shapes(
      "climate_detector",
      {{"encode6", {1, 12, 18, 1280}}, {"prediction", {1, 12, 18, 10}}, {"reconstruction", {1, 768, 1152, 16}}});
  expect_shapes("climate_detector(variant=b)", {{"encode5", {1, 24, 24, 1024}},
                                                {"prediction", {1, 24, 24, 10}},
                                                {"decode5", {1, 48, 48, 768}},
                                                {"reconstruction", {1, 768, 768, 16}}});
}

TEST(ClimateDetector, SharesWeightsOnlyInVariantA) {
  const graph::Graph a = built("climate_detector"), b = built("climate_detector(variant=b)");
  const auto weights = [](const graph::Graph& g) {
    std::string names;
    for (const graph::Node& node : g.nodes())
      if (node.kind == "deconv") names += g.value(node.in[1]).name + " ";
    return names;
  };
  EXPECT_EQ(weights(a), "encode6.w encode5.w encode4.w encode3.w encode2.w encode1.w ");
  EXPECT_EQ(weights(b), "decode5.w decode4.w decode3.w decode2.w decode1.w ");
  EXPECT_EQ(count(b, "conv"), 9);
  EXPECT_EQ(count(b, "deconv"), 5);
}

TEST(ClimateDetector, AddsTheReconstructionToItsLoss) {
  const graph::Graph g = built("climate_detector");
  EXPECT_EQ(g.value(g.find("loss")).name, "loss");
  EXPECT_EQ(g.nodes().back().kind, "add");
  EXPECT_EQ(count(g, "mse"), 1);
  EXPECT_EQ(count(built("climate_detector(lambda=0)"), "mse"), 0);
  EXPECT_EQ(count(built("climate_detector(lambda=0)"), "deconv"), 0);
}

TEST(Caffe, PoolsRoundUp) {
  expect_shapes("cifar10_quick", {{"pool1", {1, 16, 16, 32}}, {"pool2", {1, 8, 8, 32}}, {"pool3", {1, 4, 4, 64}}});
  expect_shapes("cifar10_full", {{"norm1", {1, 16, 16, 32}}, {"norm2", {1, 8, 8, 32}}, {"pool3", {1, 4, 4, 64}}});
  expect_shapes("alexnet", {{"conv1", {1, 55, 55, 96}}, {"norm1", {1, 55, 55, 96}}, {"pool5", {1, 6, 6, 256}}});
  expect_shapes("caffenet", {{"norm1", {1, 27, 27, 96}}, {"norm2", {1, 13, 13, 256}}, {"pool5", {1, 6, 6, 256}}});
  expect_shapes("googlenet", {{"pool1", {1, 56, 56, 64}},
                              {"inception3b", {1, 28, 28, 480}},
                              {"inception4d", {1, 14, 14, 528}},
                              {"inception5b", {1, 7, 7, 1024}},
                              {"auxiliary1_pool", {1, 4, 4, 512}},
                              {"auxiliary2", {1, 1000}}});
}

TEST(Caffe, BiasesLearnAndDecayAsGiven) {
  const auto parameter = [](const graph::Graph& g, const char* name) { return g.value(g.find(name)).parameter; };
  const graph::Graph full = built("cifar10_full"), quick = built("cifar10_quick"), alexnet = built("alexnet");
  EXPECT_EQ(parameter(full, "ip1.w").decay_scale, 250);
  EXPECT_EQ(parameter(full, "ip1.b").decay_scale, 0);
  EXPECT_EQ(parameter(full, "conv3.b").rate_scale, 1);
  EXPECT_EQ(parameter(quick, "conv3.b").rate_scale, 2);
  EXPECT_EQ(parameter(quick, "conv3.b").decay_scale, 1);
  EXPECT_EQ(parameter(alexnet, "fc6.b").decay_scale, 0);
  EXPECT_EQ(parameter(alexnet, "fc6.b").init, Spec("constant(value=0.1)"));
  EXPECT_EQ(parameter(built("caffenet"), "conv4.b").init, Spec("constant(value=1)"));
  EXPECT_EQ(parameter(alexnet, "conv3.b").init, Spec("constant(value=0)"));
}

TEST(GoogLeNet, AddsAuxiliaryLosses) {
  const graph::Graph g = built("googlenet");
  EXPECT_EQ(count(g, "softmax_cross_entropy"), 3);
  EXPECT_EQ(count(g, "scale"), 2);
  EXPECT_EQ(count(built("googlenet(auxiliary=false)"), "softmax_cross_entropy"), 1);
}

TEST(ResNet101, HalvesInEveryStage) {
  expect_shapes("resnet101", {{"stem", {1, 112, 112, 64}},
                              {"stage1_3", {1, 56, 56, 256}},
                              {"stage4_3", {1, 7, 7, 2048}},
                              {"prediction", {1, 11166}}});
}

TEST(Gpt, TiesItsOutputToTheTableOfTokens) {
  const graph::Graph g = built("gpt2_small");
  EXPECT_EQ(shape_of(g, "prediction"), (Shape{1, 1024, 50257}));
  const auto head = std::ranges::find(g.nodes(), "head", &graph::Node::name);
  ASSERT_NE(head, g.nodes().end());
  EXPECT_EQ(g.value(head->in[1]).name, "wte.w");
  EXPECT_EQ(g.value(g.find("block3_output.w")).parameter.init,
            Spec(fmt::format("gaussian(std={})", 0.02 / std::sqrt(24.0))));
}

TEST(LstmClassifier, FreezesItsTableUnlessAsked) {
  EXPECT_EQ(built("lstm_classifier(vocabulary=50)").parameter_count(), 651'864);
  EXPECT_EQ(built("lstm_classifier(vocabulary=50, train_embedding=true)").parameter_count(), 651'864 + 50 * 200);
}

TEST(CosmoFlow, HasThePublishedLayers) {
  const graph::Graph g = built("cosmoflow");
  const std::pair<std::string, std::int64_t> layers[] = {{"conv1", 3'488},   {"conv2", 55'360},    {"conv3", 221'312},
                                                         {"conv4", 884'992}, {"conv5", 3'539'456}, {"fc1", 4'194'432},
                                                         {"fc2", 8'256},     {"fc3", 260}};
  for (const auto& [name, numbers] : layers)
    EXPECT_EQ(shape_of(g, name + ".w").count() + shape_of(g, name + ".b").count(), numbers) << name;
}

TEST(CosmoFlowSc18, FlattensToItsFirstDenseLayer) {
  expect_shapes("cosmoflow_sc18", {{"conv7", {1, 2, 2, 2, 256}}});
  EXPECT_EQ(built("cosmoflow_sc18(size=32, padding=same)").parameter_count(), 7'041'443);
}

}  // namespace
}  // namespace isobar::zoo
