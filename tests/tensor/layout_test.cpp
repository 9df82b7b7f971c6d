#include "isobar/tensor/layout.hpp"

#include <gtest/gtest.h>

#include "isobar/tensor/engine.hpp"

namespace isobar {
namespace {

using Tag = dnnl::memory::format_tag;

TEST(Layout, PlainIsRowMajor) {
  EXPECT_EQ(plain({2, 3, 4}), Layout({2, 3, 4}, Dtype::f32, Tag::abc));
  EXPECT_EQ(plain({7}), Layout({7}, Dtype::f32, Tag::a));
  EXPECT_EQ(plain({2, 3}, Dtype::bf16), Layout({2, 3}, Dtype::bf16, Tag::ab));
  EXPECT_EQ(padded_count(plain({})), 1);
}

TEST(Layout, ChannelsLastIsTheSameMemoryWithOneDnnsAxes) {
  EXPECT_EQ(channels_last({2, 5, 6, 7, 3}), Layout({2, 3, 5, 6, 7}, Dtype::f32, Tag::ndhwc));
  EXPECT_EQ(channels_last({2, 5, 6, 3}), Layout({2, 3, 5, 6}, Dtype::f32, Tag::nhwc));
  EXPECT_EQ(channels_last({2, 5, 3}), Layout({2, 3, 5}, Dtype::f32, Tag::nwc));
  EXPECT_EQ(channels_last({2, 3}), Layout({2, 3}, Dtype::f32, Tag::nc));
  EXPECT_EQ(channels_last({2}), plain({2}));
  EXPECT_EQ(channels_last({2, 5, 6, 7, 3}, Dtype::bf16).data_type(), Dtype::bf16);
}

TEST(Layout, ChannelsLastAddressesTheElementTheShapeMeans) {
  const Shape shape{2, 3, 4, 5};
  const auto& strides = channels_last(shape).data.format_desc.blocking.strides;  // n, c, h, w
  const std::int64_t n = 1, h = 2, w = 3, c = 4;
  EXPECT_EQ(n * strides[0] + c * strides[1] + h * strides[2] + w * strides[3],
            ((n * shape[1] + h) * shape[2] + w) * shape[3] + c);
}

TEST(Layout, PaddedCountIncludesBlocks) {
  EXPECT_EQ(padded_count(plain({2, 3, 4})), 24);
  EXPECT_EQ(padded_count(plain({2, 3}, Dtype::bf16)), 6);
  EXPECT_EQ(padded_count(Layout({1, 3, 2, 2}, Dtype::f32, Tag::nChw16c)), 64);
}

TEST(Layout, TextTellsLayoutsApart) {
  EXPECT_EQ(layout_text(channels_last({2, 5, 6, 7, 3})), "f32 acdeb");
  EXPECT_EQ(layout_text(plain({2, 3, 4})), "f32 abc");
  EXPECT_EQ(layout_text(Layout({32, 16, 3, 3, 3}, Dtype::f32, Tag::ABcde16b16a)), "f32 ABcde16b16a");
  EXPECT_EQ(layout_text(Layout({2, 3}, Dtype::bf16, Tag::ab)), "bf16 ab");
  EXPECT_EQ(layout_text(Layout({2, 3}, Dtype::u8, Tag::ba)), "u8 ba");
  EXPECT_EQ(layout_text(plain({2, 3}, Dtype::f16)), "f16 ab");
  EXPECT_EQ(layout_text(plain({2, 3}, Dtype::s8)), "s8 ab");
  EXPECT_EQ(layout_text(plain({2, 3}, Dtype::s32)), "s32 ab");
}

TEST(Layout, SameBytesAreThoseOfOneTypeInOneOrder) {
  EXPECT_TRUE(same_bytes(plain({2, 3, 4}), plain({6, 4})));
  EXPECT_TRUE(same_bytes(channels_last({2, 5, 5, 1}), plain({50})));
  EXPECT_FALSE(same_bytes(plain({2, 3}), plain({2, 4})));
  EXPECT_FALSE(same_bytes(plain({2, 3}), Layout({2, 3}, Dtype::f32, Tag::ba)));
  EXPECT_TRUE(same_bytes(Layout({2, 3}, Dtype::f32, Tag::ba), Layout({2, 3}, Dtype::f32, Tag::ba)));
  // Equally long, but not the same numbers.
  EXPECT_FALSE(same_bytes(plain({2, 3}), plain({2, 3}, Dtype::s32)));
  EXPECT_FALSE(same_bytes(plain({2, 3}), plain({2, 6}, Dtype::bf16)));
}

TEST(Layout, AnyLeavesTheChoiceToThePrimitive) {
  const Layout any = any_layout({2, 3, 4, 4});
  EXPECT_EQ(any.data.format_kind, dnnl_format_kind_any);
  EXPECT_EQ(any.dims(), (dnnl::memory::dims{2, 3, 4, 4}));
}

}  // namespace
}  // namespace isobar
