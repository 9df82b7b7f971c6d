#include "isobar/report/chart.hpp"

#include <gtest/gtest.h>

namespace isobar::report {
namespace {

TEST(Chart, ADrawingScalesAndSaysWhatItShows) {
  const std::string svg = chart_svg(368, 200, "a < b", "<path/>");
  EXPECT_NE(svg.find("viewBox=\"0 0 368 200\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("aria-label=\"a &lt; b\""), std::string::npos) << svg;
  const std::string both = both_widths([](double width) { return std::to_string(static_cast<int>(width)); });
  EXPECT_NE(both.find("<div class=\"wide\">\n1130</div>"), std::string::npos) << both;
  EXPECT_NE(both.find("<div class=\"narrow\">\n368</div>"), std::string::npos) << both;
}

TEST(Chart, PowersOfTenAreTheTicksOfLogarithms) {
  const std::vector<Tick> ticks = power_ticks({-2, 3, 1});
  ASSERT_EQ(ticks.size(), 6u);
  EXPECT_EQ(ticks[0].label, "0.01");
  EXPECT_EQ(ticks[2].label, "1");
  EXPECT_EQ(ticks[5].label, "1000");
  EXPECT_DOUBLE_EQ(ticks[2].place, 0.4);
  EXPECT_EQ(power_ticks({6, 7, 1})[0].label, "1e6");
}

TEST(Chart, EveryCategoryHasItsColour) {
  for (int c = 0; c < category_count; ++c)
    EXPECT_EQ(category_class(category_name(static_cast<Category>(c))), "c" + std::to_string(c));
  EXPECT_EQ(category_class("something else"), "c9");
  const std::string key = category_legend(std::vector<std::string>{"optimizer", "I/O"});
  EXPECT_NE(key.find("<i class=\"c4\"></i>optimizer"), std::string::npos) << key;
  EXPECT_NE(key.find("<i class=\"c8\"></i>I/O"), std::string::npos) << key;
}

TEST(Chart, AxesCarryTheirLabels) {
  const std::vector<Tick> below{{0, "zero"}, {1, "one"}}, left{{0.5, "half"}};
  const std::string axes = drawn_axes({10, 20, 100, 50}, below, left, "time", "GF/s");
  EXPECT_NE(axes.find("x=\"110.0\" y=\"86.0\" text-anchor=\"middle\">one<"), std::string::npos) << axes;
  EXPECT_NE(axes.find("x=\"3.0\" y=\"49.0\" text-anchor=\"end\">half<"), std::string::npos) << axes;
  EXPECT_NE(axes.find(">time<"), std::string::npos);
  EXPECT_NE(axes.find(">GF/s<"), std::string::npos);
}

}  // namespace
}  // namespace isobar::report
