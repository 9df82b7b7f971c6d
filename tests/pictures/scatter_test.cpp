#include "isobar/pictures/scatter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "isobar/pictures/axis.hpp"

#include "tests/capture.hpp"

namespace isobar::pictures {
namespace {

using namespace isobar::tests;
const Series line{"sigma_8", {-1, -0.5, 0, 0.5, 1}, {-1, -0.5, 0, 0.5, 1}};

TEST(Axis, RangeWithRoomAndRoundTicks) {
  const double a[] = {-0.97, 0.3}, b[] = {1.03};
  const Axis axis = axis_over(a, b, 5);
  EXPECT_DOUBLE_EQ(axis.low, 0.03 - 1.08);
  EXPECT_DOUBLE_EQ(axis.high, 0.03 + 1.08);
  EXPECT_EQ(axis.ticks(), (std::vector<double>{-1, -0.5, 0, 0.5, 1}));
  EXPECT_EQ(axis.label(-0.5), "-0.5");
  EXPECT_EQ(axis.label(1e-17), "0.0");
  const double c[] = {0.2703, 0.33};
  const Axis fine = axis_over(c, c, 5);
  EXPECT_DOUBLE_EQ(fine.step, 0.02);
  EXPECT_EQ(fine.label(fine.ticks()[0]), "0.28");
  EXPECT_DOUBLE_EQ(fine.place(fine.low), 0);
  EXPECT_DOUBLE_EQ(fine.place(fine.high), 1);
}

TEST(Axis, OddValuesStillGiveARange) {
  const double same[] = {3, 3}, nothing[] = {std::numeric_limits<double>::quiet_NaN()};
  for (const auto& values :
       {std::span<const double>(same), std::span<const double>(nothing), std::span<const double>()}) {
    const Axis axis = axis_over(values, values, 4);
    EXPECT_LT(axis.low, axis.high);
    EXPECT_GE(axis.ticks().size(), 1u);
    EXPECT_LE(axis.ticks().size(), 12u);
  }
}

TEST(ScatterText, DiagonalAndSamples) {
  EXPECT_EQ(scatter_text(std::span(&line, 1), 17, 5),
            "       sigma_8 R2 = 1.00\n"
            "   1.1|              ..o\n"
            "      |          ..o.\n"
            "      |       .o.\n"
            "      |   .o..\n"
            "  -1.1|o..\n"
            "      +-----------------\n"
            "       -1.1   true   1.1\n");
}

TEST(ScatterText, PanelsStandSideBySide) {
  const Series other{"a name that is much too long for its place", {0, 0, 0, 0, 1}, {1, 1, 1, 1, 0}};
  const Series both[] = {line, other};
  const std::string text = scatter_text(both, 20, 6);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 9);
  EXPECT_NE(text.find('@'), std::string::npos);
  EXPECT_NE(text.find("R2 = 1.00"), std::string::npos);
  EXPECT_NE(text.find("a name th R2 = -5.25"), std::string::npos) << text;
  EXPECT_EQ(scatter_text({}), "");
}

TEST(ScatterSvg, OnePanelPerTargetOneCirclePerSample) {
  const Series both[] = {line, {"a<b", {0, 1, std::nan("")}, {0, 1, 1}}};
  const std::string svg = scatter_svg(both);
  const auto count = [&](const std::string& part) {
    int n = 0;
    for (auto at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1)) ++n;
    return n;
  };
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_EQ(count("<circle"), 7);
  EXPECT_EQ(count("class=\"diagonal\""), 2);
  EXPECT_EQ(count("R\u00b2 = 1.000"), 1);
  EXPECT_EQ(count("a&lt;b"), 1);
  EXPECT_EQ(count("<g"), count("</g>"));
  const TemporaryFolder folder;
  write_scatter_svg(folder / "scatter.svg", both);
  EXPECT_EQ(text_of(folder / "scatter.svg"), svg);
}

}  // namespace
}  // namespace isobar::pictures
