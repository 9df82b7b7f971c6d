#include "isobar/report/html.hpp"

#include <gtest/gtest.h>

namespace isobar::report {
namespace {

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
