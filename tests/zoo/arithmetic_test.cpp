#include "isobar/zoo/arithmetic.hpp"

#include <gtest/gtest.h>

namespace isobar::zoo {
namespace {

// Two operations per multiply-add of one operator on inputs of these shapes.
double of(const Spec& spec, const std::vector<Shape>& in) {
  graph::Graph g;
  std::vector<graph::ValueId> inputs;
  for (const Shape& shape : in) inputs.push_back(g.input("x" + std::to_string(inputs.size()), shape));
  g.add(spec, inputs);
  return arithmetic(g);
}

TEST(Arithmetic, CountsMultiplyAddsOfWeightedLayers) {
  EXPECT_EQ(of("conv(filters=6, kernel=3, stride=2, padding=same, groups=2)", {{2, 8, 8, 4}}),
            2.0 * 2 * 4 * 4 * 6 * 9 * 2);
  EXPECT_EQ(of("dense(units=7)", {{3, 5, 4}}), 2.0 * 3 * 5 * 4 * 7);
  EXPECT_EQ(of("relu", {{3, 5}}), 0);
}

// A transposed convolution does the same work as the convolution it transposes.
TEST(Arithmetic, CountsTransposedConvolutionsByTheirInput) {
  EXPECT_EQ(of("deconv(filters=4, kernel=3, stride=2, padding=same)", {{2, 5, 5, 6}}), 2.0 * 2 * 25 * 6 * 4 * 9);
}

TEST(Arithmetic, CountsProductsOfMatrices) {
  EXPECT_EQ(of("matmul", {{2, 3, 4}, {4, 5}}), 2.0 * 2 * 3 * 4 * 5);
  EXPECT_EQ(of("matmul(transpose_b=true)", {{3, 4}, {5, 4}}), 2.0 * 3 * 4 * 5);
  EXPECT_EQ(of("attention(heads=2)", {{2, 3, 8}, {2, 5, 8}, {2, 5, 8}}), 2.0 * 2 * (3 * 5 * 8) * 2);
}

TEST(Arithmetic, CountsBothMapsOfAnLstm) {
  EXPECT_EQ(of("lstm(units=3)", {{2, 5, 4}}), 2.0 * 2 * 5 * 12 * (4 + 3));
  EXPECT_EQ(of("lstm(units=3, direction=bidirectional)", {{2, 5, 4}, {2, 2, 3}, {2, 2, 3}}),
            2.0 * 2 * 5 * 2 * 12 * (4 + 3));
}

}  // namespace
}  // namespace isobar::zoo
