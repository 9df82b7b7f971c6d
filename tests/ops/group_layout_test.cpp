#include "isobar/ops/group_layout.hpp"

#include <gtest/gtest.h>

namespace isobar::ops {
namespace {

using Tag = dnnl::memory::format_tag;

Layout weights(Tag tag) { return Layout({2, 32, 16, 3, 3}, Dtype::f32, tag); }

TEST(GroupLayout, IsThatOfAConvolutionWithoutGroups) {
  const auto plain_order = group_layout(weights(Tag::goihw)), blocked = group_layout(weights(Tag::gOhwi32o));
  ASSERT_TRUE(plain_order && blocked);
  EXPECT_EQ(*plain_order, Layout({32, 16, 3, 3}, Dtype::f32, Tag::oihw));
  EXPECT_EQ(*blocked, Layout({32, 16, 3, 3}, Dtype::f32, Tag::Ohwi32o));
}

TEST(GroupLayout, IsNoneWhereGroupsAreMixed) {
  EXPECT_FALSE(group_layout(weights(Tag::hwigo)));
  EXPECT_FALSE(group_layout(Layout({32, 1, 1, 3, 3}, Dtype::f32, Tag::Goihw16g)));
}

}  // namespace
}  // namespace isobar::ops
