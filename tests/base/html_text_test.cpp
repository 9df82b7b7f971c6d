#include "isobar/base/html_text.hpp"

#include <gtest/gtest.h>

namespace isobar {
namespace {

TEST(HtmlText, LosesItsMeaningAsMarkup) {
  EXPECT_EQ(html_text("a<b & \"c\" > 'd'\n"), "a&lt;b &amp; &quot;c&quot; &gt; &#39;d&#39;\n");
  EXPECT_EQ(html_text("10\u00b3 \u20ac \U0001f30d"), "10\u00b3 \u20ac \U0001f30d");
}

TEST(HtmlText, BytesThatAreNoTextAreReplaced) {
  const std::string gap = "\xEF\xBF\xBD";
  EXPECT_EQ(html_text(std::string_view("a\0b", 3)), "a" + gap + "b");
  EXPECT_EQ(html_text("\x1b[0m"), gap + "[0m");
  EXPECT_EQ(html_text("\xff"), gap);
  EXPECT_EQ(html_text("x\xe2\x82"), "x" + gap + gap);     // cut short
  EXPECT_EQ(html_text("\xc0\xbc"), gap + gap);            // an overlong '<'
  EXPECT_EQ(html_text("\xed\xa0\x80"), gap + gap + gap);  // half of a surrogate pair
  EXPECT_EQ(html_text("\xf4\x90\x80\x80").find('\xf4'), std::string::npos);
}

}  // namespace
}  // namespace isobar
