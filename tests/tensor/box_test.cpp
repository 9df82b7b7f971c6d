#include "isobar/tensor/box.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "tests/tensor/some_boxes.hpp"

namespace isobar {
namespace {

TEST(Box, KnowsWhatItCovers) {
  const Shape shape{4, 6};
  const Box whole = Box::whole(shape);
  EXPECT_TRUE(whole.is_whole(shape));
  EXPECT_TRUE(whole.is_inside(shape));
  EXPECT_EQ(whole.count(), 24);
  const Box part = whole.with(-1, 2, 3);
  EXPECT_EQ(part, (Box{{0, 2}, Shape{4, 3}}));
  EXPECT_EQ(part.end(1), 5);
  EXPECT_EQ(part.end(-2), 4);
  EXPECT_EQ(part.str(), "[0:4, 2:5]");
  EXPECT_FALSE(part.is_whole(shape));
  EXPECT_TRUE(part.is_inside(shape));
  EXPECT_FALSE(part.with(1, 4, 3).is_inside(shape));
  EXPECT_FALSE(part.with(0, -1, 2).is_inside(shape));
  EXPECT_FALSE(part.is_inside(Shape{4, 6, 1}));
  EXPECT_FALSE((Box{{0, 1}, shape}).is_whole(shape));
  EXPECT_TRUE(Box::none(shape).is_inside(shape));
  EXPECT_EQ(Box::none(shape).count(), 0);
}

TEST(Box, ContainsWhatLiesInIt) {
  const Box box{{1, 4}, Shape{3, 2}};
  EXPECT_TRUE(box.contains(box));
  EXPECT_TRUE(box.contains({{2, 5}, Shape{2, 1}}));
  EXPECT_FALSE(box.contains({{2, 5}, Shape{2, 2}}));
  EXPECT_FALSE(box.contains({{0, 4}, Shape{2, 1}}));
  EXPECT_TRUE(box.contains(Box::none(Shape{9, 9})));
  EXPECT_FALSE(Box::none(Shape{9, 9}).contains(box));
}

TEST(Box, TheHullHoldsBoth) {
  EXPECT_EQ(hull({{1, 4}, Shape{2, 1}}, {{0, 5}, Shape{2, 3}}), (Box{{0, 4}, Shape{3, 4}}));
  EXPECT_EQ(hull({{1, 4}, Shape{5, 9}}, {{2, 5}, Shape{2, 3}}), (Box{{1, 4}, Shape{5, 9}}));
}

TEST(Box, IsCutOutOfWhatIsHeld) {
  const Shape shape{3, 4};
  std::vector<float> numbers(12);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  std::vector<float> rows(8);
  const Box held = Box::whole(shape).with(0, 1, 2);
  copy_box(Box::whole(shape), numbers, held, rows);
  EXPECT_EQ(rows, (std::vector<float>{4, 5, 6, 7, 8, 9, 10, 11}));
  std::vector<float> corner(2);
  copy_box(held, rows, {{1, 3}, Shape{2, 1}}, corner);
  EXPECT_EQ(corner, (std::vector<float>{7, 11}));
  copy_box(held, rows, Box::none(shape), {});
}

TEST(Box, EveryPlaceOfABoxIsCopied) {
  const Shape shape{3, 2, 5, 2};
  std::vector<float> numbers(60);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  for (const Box& box : tests::some_boxes(shape, 3, 20)) {
    std::vector<float> found(static_cast<std::size_t>(box.count())), wanted;
    copy_box(Box::whole(shape), numbers, box, found);
    for (std::int64_t a = box.begin[0]; a < box.end(0); ++a)
      for (std::int64_t b = box.begin[1]; b < box.end(1); ++b)
        for (std::int64_t c = box.begin[2]; c < box.end(2); ++c)
          for (std::int64_t d = box.begin[3]; d < box.end(3); ++d)
            wanted.push_back(static_cast<float>(((a * 2 + b) * 5 + c) * 2 + d));
    EXPECT_EQ(found, wanted) << box.str();
  }
}

}  // namespace
}  // namespace isobar
