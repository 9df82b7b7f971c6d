#include "isobar/tensor/tensor.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

// Otherwise the address sanitizer would end the test at the allocation that must fail.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace isobar {
namespace {

bool aligned(const void* p, std::uintptr_t bytes) { return reinterpret_cast<std::uintptr_t>(p) % bytes == 0; }

TEST(Block, IsAlignedWhateverItsSize) {
  for (const std::size_t bytes : {1u, 63u, 64u, 1000u, (2u << 20) - 1, 2u << 20, (2u << 20) + 5}) {
    const Block block(bytes);
    ASSERT_NE(block.data(), nullptr);
    EXPECT_EQ(block.size(), bytes);
    EXPECT_TRUE(aligned(block.data(), 64)) << bytes;
    block.data()[bytes - 1] = std::byte{1};
  }
}

TEST(Block, EmptyHasNoMemory) {
  EXPECT_EQ(Block().data(), nullptr);
  EXPECT_EQ(Block(0).data(), nullptr);
}

TEST(Block, MoreThanThereIsIsAnError) {
  EXPECT_THROW(Block(std::size_t{1} << 60), Error);
  EXPECT_THROW(Block(SIZE_MAX), Error);
  EXPECT_THROW(Tensor(Shape{3, -1}), Error);
}

TEST(Tensor, OwnsZeroedMemory) {
  const Tensor tensor(Shape{3, 4, 5});
  EXPECT_EQ(tensor.count(), 60);
  EXPECT_EQ(tensor.span().size(), 60u);
  EXPECT_TRUE(aligned(tensor.data(), 64));
  EXPECT_TRUE(std::all_of(tensor.span().begin(), tensor.span().end(), [](float x) { return x == 0; }));
}

TEST(Tensor, BorrowsWithoutCopying) {
  std::vector<float> memory{1, 2, 3, 4, 5, 6};
  const Tensor tensor(Shape{2, 3}, memory.data());
  EXPECT_EQ(tensor.data(), memory.data());
  tensor.span()[4] = 50;
  EXPECT_EQ(memory[4], 50);
}

TEST(Tensor, RowsRunAlongTheFirstAxis) {
  std::vector<float> memory{1, 2, 3, 4, 5, 6};
  const Tensor tensor(Shape{2, 3}, memory.data());
  EXPECT_EQ(tensor.row(1).size(), 3u);
  EXPECT_EQ(tensor.row(1)[0], 4);
  EXPECT_EQ(Tensor(Shape{6}, memory.data()).row(5)[0], 6);
  EXPECT_THROW(tensor.row(2), std::logic_error);
  EXPECT_THROW(tensor.row(-1), std::logic_error);
}

TEST(Tensor, MovingKeepsTheMemory) {
  Tensor source(Shape{4});
  float* const data = source.data();
  source.span()[2] = 7;
  const Tensor target = std::move(source);
  EXPECT_EQ(target.data(), data);
  EXPECT_EQ(target.span()[2], 7);
}

TEST(Tensor, EmptyOnesAreHarmless) {
  EXPECT_EQ(Tensor().count(), 0);
  EXPECT_TRUE(Tensor().span().empty());
  EXPECT_EQ(Tensor(Shape{0, 3}).count(), 0);
  EXPECT_EQ(Tensor(Shape{}).count(), 1);
}

}  // namespace
}  // namespace isobar
