#include "isobar/comm/sum_tree.hpp"

#include <gtest/gtest.h>

namespace isobar::comm {
namespace {

float part_number(std::size_t part, std::size_t i) { return 1.0f / static_cast<float>(3 * part + i % 97 + 1); }

float tree(std::size_t first, std::size_t parts, std::size_t i) {
  if (parts == 1) return part_number(first, i);
  std::size_t half = 1;
  while (half * 2 < parts) half *= 2;
  return tree(first, half, i) + tree(first + half, parts - half, i);
}

TEST(SumTree, AddsPairsOfPairsInPlaceAndElsewhere) {
  for (const std::size_t parts : {1, 2, 3, 4, 5, 8, 9})
    for (const std::size_t count : {0, 1, 15, 2048, 5001})
      for (const std::size_t results : {std::size_t{1}, parts}) {
        std::vector<std::vector<float>> memory(parts, std::vector<float>(count + 1, -7.0f));
        std::vector<const float*> sources;
        std::vector<float*> targets;
        for (std::size_t part = 0; part < parts; ++part) {
          for (std::size_t i = 0; i < count; ++i) memory[part][i] = part_number(part, i);
          sources.push_back(memory[part].data());
          if (part < results) targets.push_back(memory[part].data());
        }
        std::vector<float> elsewhere(count + 1, -7.0f);
        targets.push_back(elsewhere.data());
        sum_tree(sources, targets, count);
        for (const float* target : targets) {
          for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(target[i], tree(0, parts, i)) << parts << " parts, " << i;
          ASSERT_EQ(target[count], -7.0f);
        }
      }
}

TEST(SumTree, SlicesCoverTheRangeAndMeetAtCacheLines) {
  for (const std::size_t begin : {0, 5, 16, 1000})
    for (const std::size_t count : {0, 1, 15, 100, 12345})
      for (int slices = 1; slices <= 9; ++slices) {
        std::size_t at = begin;
        for (int index = 0; index < slices; ++index) {
          const Range slice = slice_of({begin, count}, slices, index);
          ASSERT_EQ(slice.begin, at);
          at = slice.end();
          ASSERT_TRUE(at % 16 == 0 || at == begin || at == begin + count);
        }
        ASSERT_EQ(at, begin + count);
      }
}

}  // namespace
}  // namespace isobar::comm
