#include "isobar/report/html.hpp"

#include <gtest/gtest.h>

namespace isobar::report {
namespace {

TEST(Html, TextLosesItsMeaningAsMarkup) {
  EXPECT_EQ(html_text("a<b & \"c\" > 'd'\n"), "a&lt;b &amp; &quot;c&quot; &gt; &#39;d&#39;\n");
  EXPECT_EQ(html_text("10\u00b3 \u20ac \U0001f30d"), "10\u00b3 \u20ac \U0001f30d");
}

TEST(Html, BytesThatAreNoTextAreReplaced) {
  const std::string gap = "\xEF\xBF\xBD";
  EXPECT_EQ(html_text(std::string_view("a\0b", 3)), "a" + gap + "b");
  EXPECT_EQ(html_text("\x1b[0m"), gap + "[0m");
  EXPECT_EQ(html_text("\xff"), gap);
  EXPECT_EQ(html_text("x\xe2\x82"), "x" + gap + gap);     // cut short
  EXPECT_EQ(html_text("\xc0\xbc"), gap + gap);            // a '<' in too many bytes
  EXPECT_EQ(html_text("\xed\xa0\x80"), gap + gap + gap);  // half of a pair
  EXPECT_EQ(html_text("\xf4\x90\x80\x80").find('\xf4'), std::string::npos);
}

TEST(Html, TablesAlignNumbersAndSetOffTheSum) {
  const std::vector<Column> columns{{"name"}, {"GF/s <", true}};
  const std::vector<std::vector<std::string>> rows{{"a", "1"}, {"b", "2"}, {"all", "3"}};
  const std::string table = html_table(columns, rows, true);
  EXPECT_NE(table.find("<th scope=\"col\" class=\"number\">GF/s &lt;</th>"), std::string::npos) << table;
  EXPECT_NE(table.find("<tr><td>a</td><td class=\"number\">1</td></tr>"), std::string::npos) << table;
  EXPECT_NE(table.find("<tr class=\"sum\"><td>all</td>"), std::string::npos) << table;
  EXPECT_EQ(html_table(columns, rows).find("sum"), std::string::npos);
  const std::vector<std::pair<std::string, std::string>> pairs{{"a<", "b>"}};
  EXPECT_NE(html_pairs(pairs).find("<th scope=\"row\">a&lt;</th><td>b&gt;</td>"), std::string::npos);
}

TEST(Html, APageNeedsNothingFromElsewhere) {
  const std::string page = html_page("<run>", html_section("results", "Results & more", "<p>text</p>"));
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_NE(page.find("<title>&lt;run&gt;</title>"), std::string::npos);
  EXPECT_NE(page.find("<section id=\"results\">\n<h2>Results &amp; more</h2>\n<p>text</p>"), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
  for (const char* elsewhere : {"http:", "https:", "src=", "@import", "url("})
    EXPECT_EQ(page.find(elsewhere), std::string::npos) << elsewhere;
}

}  // namespace
}  // namespace isobar::report
