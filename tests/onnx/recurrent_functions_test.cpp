// Recurrent cells beyond ONNX's own data: directions, lengths, peepholes, coupled gates, other activations.
#include <cmath>

#include <gtest/gtest.h>

#include "isobar/onnx/functions.hpp"

#include "tests/onnx/call.hpp"

namespace isobar::onnx {
namespace {

using Numbers = std::vector<double>;

const Array recurrent_functions_left_out{Type::undefined, {}, {}};

/// h = 2 x + h, unbounded, so that sums can be read off.
const std::map<std::string, Attribute> sums{{"activations", texts_attribute({"Affine"})}};

TEST(RecurrentFunctions, BothDirectionsAndLengths) {
  const Array x = floats({3, 2, 1}, {1, 10, 2, 20, 3, 30});
  const Array w = floats({2, 1, 1}, {2, 2}), r = floats({2, 1, 1}, {1, 1});
  std::map<std::string, Attribute> both{{"activations", texts_attribute({"Affine", "Affine"})},
                                        {"direction", text_attribute("bidirectional")}};
  const std::vector<Array> out = call("RNN", 14, {x, w, r, recurrent_functions_left_out, wholes({2}, {3, 2})}, both, 2);
  // [step, direction, batch]; the second sequence ends after two steps.
  EXPECT_EQ(out[0].values, (Numbers{2, 20, 12, 60, 6, 60, 10, 40, 12, 0, 6, 0}));
  EXPECT_EQ(out[1].values, (Numbers{12, 60, 12, 60}));
}

TEST(RecurrentFunctions, ReverseStartsFromTheGivenState) {
  const Array x = floats({2, 1, 1}, {1, 2}), w = floats({1, 1, 1}, {2}), r = floats({1, 1, 1}, {1});
  std::map<std::string, Attribute> reverse = sums;
  reverse["direction"] = text_attribute("reverse");
  const std::vector<Array> out =
      call("RNN", 14, {x, w, r, recurrent_functions_left_out, recurrent_functions_left_out, floats({1, 1, 1}, {100})},
           reverse, 2);
  EXPECT_EQ(out[0].values, (Numbers{106, 104}));
  reverse["clip"] = number_attribute(50);
  EXPECT_EQ(
      call("RNN", 14, {x, w, r, recurrent_functions_left_out, recurrent_functions_left_out, floats({1, 1, 1}, {100})},
           reverse)[0]
          .values,
      (Numbers{50, 50}));
}

TEST(RecurrentFunctions, LstmPeepholesAndCoupledGates) {
  // One cell, all activations the identity; i, o, f, c = x + p C with p = (1, 2, 3).
  const Array x = floats({1, 1, 1}, {1}), w = floats({1, 4, 1}, {1, 1, 1, 1}), r = floats({1, 4, 1}, {0, 0, 0, 0});
  const Array h = floats({1, 1, 1}, {0}), c = floats({1, 1, 1}, {2}), p = floats({1, 3}, {1, 2, 3});
  std::map<std::string, Attribute> plain{{"activations", texts_attribute({"Affine", "Affine", "Affine"})}};
  std::vector<Array> out =
      call("LSTM", 14, {x, w, r, recurrent_functions_left_out, recurrent_functions_left_out, h, c, p}, plain, 3);
  // i = 3, f = 7, C = 7 * 2 + 3 * 1 = 17, o = 1 + 2 * 17 = 35.
  EXPECT_EQ(out[2].values, Numbers{17});
  EXPECT_EQ(out[1].values, Numbers{35 * 17});
  plain["input_forget"] = whole_attribute(1);
  out = call("LSTM", 14, {x, w, r, recurrent_functions_left_out, recurrent_functions_left_out, h, c, p}, plain, 3);
  // f = 1 - 3 = -2, C = -2 * 2 + 3 = -1.
  EXPECT_EQ(out[2].values, Numbers{-1});
}

TEST(RecurrentFunctions, GruResetsBeforeOrAfterTheProduct) {
  // z = 0, reset = 0.5 by biases of the identity; h = 2, R = 1 with bias 10 on the new state.
  const Array x = floats({1, 1, 1}, {0}), w = floats({1, 3, 1}, {0, 0, 0}), r = floats({1, 3, 1}, {0, 0, 1});
  const Array b = floats({1, 6}, {0, 0.5, 0, 0, 0, 10}), h = floats({1, 1, 1}, {2});
  std::map<std::string, Attribute> plain{{"activations", texts_attribute({"Affine", "Affine"})}};
  EXPECT_EQ(call("GRU", 14, {x, w, r, b, recurrent_functions_left_out, h}, plain)[0].values, Numbers{11});
  plain["linear_before_reset"] = whole_attribute(1);
  EXPECT_EQ(call("GRU", 14, {x, w, r, b, recurrent_functions_left_out, h}, plain)[0].values, Numbers{6});
}

TEST(RecurrentFunctions, ActivationsTakeTheirNumbersInOrder) {
  const Array x = floats({1, 1, 1}, {-2}), w = floats({2, 1, 1}, {1, 1}), r = floats({2, 1, 1}, {0, 0});
  const std::map<std::string, Attribute> mixed{{"activations", texts_attribute({"LeakyRelu", "Affine"})},
                                               {"activation_alpha", numbers_attribute({0.5, 3})},
                                               {"activation_beta", numbers_attribute({1})},
                                               {"direction", text_attribute("bidirectional")}};
  EXPECT_EQ(call("RNN", 14, {x, w, r}, mixed)[0].values, (Numbers{-1, -5}));
  EXPECT_THROW(call("RNN", 14, {x, w, r},
                    {{"direction", text_attribute("bidirectional")}, {"activations", texts_attribute({"Tanh"})}}),
               Error);
  EXPECT_THROW(call("RNN", 14, {x, w, r}), Error);
}

}  // namespace
}  // namespace isobar::onnx
