#include "isobar/train/members.hpp"

#include <gtest/gtest.h>

namespace isobar::train {
namespace {

TEST(Members, AChangeSaysWhoLeftAndWhoGoesOn) {
  MembersChange change = change_of({0, 1, 2, 3}, {0, 1, 3});
  change.step = 1200;
  EXPECT_EQ(change.str(), "rank 2 left; 3 ranks go on after step 1,200");
  change = change_of({0, 1, 2, 3}, {1, 3, 4, 5});
  EXPECT_EQ(change.str(), "ranks 0 and 2 left, ranks 4 and 5 take their places; 4 ranks go on after step 0");
  EXPECT_EQ(change_of({0, 1, 2, 3}, {3}).str(), "ranks 0, 1 and 2 left; 1 rank goes on after step 0");
  EXPECT_EQ(change_of({0, 1}, {0, 1}).str(), "the ranks met again; 2 ranks go on after step 0");
}

TEST(Members, ChangesAreReadAsTheyWereWritten) {
  MembersChange change = change_of({0, 1}, {1, 2});
  change.step = 7;
  change.seconds = 0.25;
  const std::vector<MembersChange> read = changes_in(to_json({change, {}}));
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].str(), change.str());
  EXPECT_EQ(read[0].left, std::vector{0});
  EXPECT_EQ(read[0].joined, std::vector{2});
  EXPECT_EQ(read[0].members, (std::vector{1, 2}));
  EXPECT_EQ(read[0].seconds, 0.25);
}

TEST(Members, WhatIsNoChangeIsLeftOut) {
  for (const char* text : {"", "x", "{}", "[3]", "[[]]"}) EXPECT_TRUE(changes_in(text).empty()) << text;
  const std::vector<MembersChange> read = changes_in(R"([{"step": "x", "left": [1, "a", 2.5], "joined": 3}])");
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].left, std::vector{1});
  EXPECT_TRUE(read[0].joined.empty());
}

}  // namespace
}  // namespace isobar::train
