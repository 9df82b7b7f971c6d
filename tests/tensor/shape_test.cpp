#include "isobar/tensor/shape.hpp"

#include <gtest/gtest.h>

namespace isobar {
namespace {

TEST(Shape, CountsElements) {
  const Shape shape{2, 128, 128, 128, 4};
  EXPECT_EQ(shape.rank(), 5);
  EXPECT_EQ(shape.count(), 16777216);
  EXPECT_EQ(shape.count(1, 4), 2097152);
  EXPECT_EQ(shape.count(3, 3), 1);
  EXPECT_EQ(Shape{}.count(), 1);
  EXPECT_EQ((Shape{3, 0, 2}.count()), 0);
  EXPECT_EQ((Shape{100000, 100000, 100}.count()), 1000000000000);  // more than 32 bits
}

TEST(Shape, NegativeAxesCountFromTheEnd) {
  Shape shape{2, 3, 4};
  EXPECT_EQ(shape[-1], 4);
  EXPECT_EQ(shape[-3], shape[0]);
  shape[-2] = 7;
  EXPECT_EQ(shape, (Shape{2, 7, 4}));
  EXPECT_THROW(shape[3], std::logic_error);
  EXPECT_THROW(shape[-4], std::logic_error);
  EXPECT_THROW(Shape{}[0], std::logic_error);
}

TEST(Shape, ReadsAsPeopleWriteIt) {
  EXPECT_EQ((Shape{2, 128, 4}.str()), "2x128x4");
  EXPECT_EQ(Shape{}.str(), "scalar");
  EXPECT_EQ(Shape(std::vector<std::int64_t>{5}).str(), "5");
}

TEST(Shape, EqualMeansEveryExtent) {
  EXPECT_EQ((Shape{1, 2}), (Shape{1, 2}));
  EXPECT_NE((Shape{1, 2}), (Shape{2, 1}));
  EXPECT_NE((Shape{1, 2}), (Shape{1, 2, 1}));
}

}  // namespace
}  // namespace isobar
