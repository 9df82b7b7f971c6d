#include "isobar/onnx/window_attributes.hpp"

#include <gtest/gtest.h>

#include "tests/onnx/call.hpp"

namespace isobar::onnx {
namespace {

using Places = std::vector<std::pair<std::int64_t, std::int64_t>>;

WindowAttributes make(const Dims& dims, std::map<std::string, Attribute> attributes) {
  const OnnxNode node{"pool", "MaxPool", "", {}, {"y"}, std::move(attributes)};
  return window({node, 12, {}}, dims, std::nullopt);
}

Places covered(const WindowAttributes& w, const Dims& position) {
  Places places;
  w.cover(position, [&](std::int64_t at, std::int64_t tap) { places.emplace_back(at, tap); });
  return places;
}

TEST(Window, CoversTheInputWithoutThePads) {
  const WindowAttributes w = make({1, 1, 5}, {{"kernel_shape", wholes_attribute({3})},
                                              {"strides", wholes_attribute({2})},
                                              {"dilations", wholes_attribute({2})},
                                              {"pads", wholes_attribute({3, 2})}});
  EXPECT_EQ(w.out, Dims{3});
  // Taps at -3, -1, 1, then -1, 1, 3, then 1, 3, 5.
  EXPECT_EQ(covered(w, {0}), (Places{{1, 2}}));
  EXPECT_EQ(covered(w, {1}), (Places{{1, 1}, {3, 2}}));
  EXPECT_EQ(covered(w, {2}), (Places{{1, 0}, {3, 1}}));
}

TEST(Window, SameKeepsTheExtentAndPadsOnTheNamedSide) {
  const std::map<std::string, Attribute> upper{{"kernel_shape", wholes_attribute({2, 2})},
                                               {"auto_pad", text_attribute("SAME_UPPER")}};
  EXPECT_EQ(make({1, 1, 3, 3}, upper).out, (Dims{3, 3}));
  EXPECT_EQ(make({1, 1, 3, 3}, upper).before, (Dims{0, 0}));
  std::map<std::string, Attribute> lower = upper;
  lower["auto_pad"] = text_attribute("SAME_LOWER");
  EXPECT_EQ(make({1, 1, 3, 3}, lower).before, (Dims{1, 1}));
  EXPECT_EQ(covered(make({1, 1, 3, 3}, lower), {0, 1}), (Places{{0, 2}, {1, 3}}));
}

TEST(Window, AbsurdAttributesCostNothingOrAreRefused) {
  const WindowAttributes w =
      make({1, 1, 4}, {{"kernel_shape", wholes_attribute({1 << 30})}, {"pads", wholes_attribute({1 << 30, 0})}});
  EXPECT_EQ(covered(w, {0}).size(), 0U);
  EXPECT_EQ(covered(w, {4}).size(), 4U);
  EXPECT_THROW(make({1, 1, 4}, {{"kernel_shape", wholes_attribute({5})}}), Error);
  EXPECT_THROW(make({1, 1, 4}, {{"kernel_shape", wholes_attribute({1})}, {"strides", wholes_attribute({0})}}), Error);
  EXPECT_THROW(make({1, 4}, {{"kernel_shape", wholes_attribute({1})}}), Error);
}

}  // namespace
}  // namespace isobar::onnx
