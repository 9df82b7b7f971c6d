#include "isobar/base/text.hpp"

#include <gtest/gtest.h>

namespace isobar {
namespace {

const std::vector<std::string> words{"adam", "adamw", "sgd", "rmsprop"};

TEST(Text, LowerCaseLeavesAllButLetters) { EXPECT_EQ(lower_case("A_b-9.NC"), "a_b-9.nc"); }

TEST(Text, NearestFindsTyposOnly) {
  EXPECT_EQ(nearest("adm", words), "adam");
  EXPECT_EQ(nearest("adma", words), "adam");
  EXPECT_EQ(nearest("adamw", words), "adamw");
  EXPECT_EQ(nearest("rmspropp", words), "rmsprop");
  EXPECT_EQ(nearest("momentum", words), "");
  EXPECT_EQ(nearest("x", std::vector<std::string>{"lr"}), "");  // nothing in common, however short
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest("adam", {}), "");
}

TEST(Text, SuggestionSaysWhatIsKnown) {
  EXPECT_EQ(suggestion("sdg", words), " (did you mean 'sgd'?)");
  EXPECT_EQ(suggestion("momentum", words), "; known: adam, adamw, sgd, rmsprop");
  EXPECT_EQ(suggestion("x", {}), "; none is known");
}

TEST(Text, OneLine) {
  EXPECT_EQ(one_line("a\nb\tc\x7f"), "a b c ");
  EXPECT_EQ(one_line("abcdef", 4), "abcd...");
  EXPECT_EQ(one_line("abcd", 4), "abcd");
}

TEST(Text, Join) {
  EXPECT_EQ(join(words, "|"), "adam|adamw|sgd|rmsprop");
  EXPECT_EQ(join({}, ","), "");
}

TEST(Text, HumanNumbers) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(412), "412 B");
  EXPECT_EQ(human_bytes(999.6), "1.00 kB");
  EXPECT_EQ(human_bytes(3.2e6), "3.20 MB");
  EXPECT_EQ(human_bytes(35.63e6), "35.6 MB");
  EXPECT_EQ(human_bytes(1.5e18), "1500 PB");
  EXPECT_EQ(human_flops(68.86e9), "68.9 GF");
  EXPECT_EQ(human_flops(1.4e12), "1.40 TF");
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(8907556), "8,907,556");
  EXPECT_EQ(with_commas(-1000), "-1,000");
  EXPECT_EQ(human_seconds(3.6), "4 s");
  EXPECT_EQ(human_seconds(-1), "0 s");
  EXPECT_EQ(human_seconds(59.7), "1:00");
  EXPECT_EQ(human_seconds(123), "2:03");
  EXPECT_EQ(human_seconds(3723), "1:02:03");
}

TEST(Text, HashIsTheSameEverywhere) {
  EXPECT_EQ(hash_text(""), 0xcbf29ce484222325u);  // the published values of FNV-1a
  EXPECT_EQ(hash_text("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(hash_text("foobar"), 0x85944171f73967e8u);
}

}  // namespace
}  // namespace isobar
