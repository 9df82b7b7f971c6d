#include "isobar/codec/parcel.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace isobar::codec {
namespace {

using List = std::vector<float>;

std::vector<std::span<float>> spans_of(std::vector<List>& tensors) { return {tensors.begin(), tensors.end()}; }

std::vector<std::size_t> counts_of(const std::vector<List>& tensors) {
  std::vector<std::size_t> counts;
  for (const List& tensor : tensors) counts.push_back(tensor.size());
  return counts;
}

// Of odd lengths, and with a codec whose numbers take 2 bytes, so that tensors do not end at multiples of 4.
TEST(Parcel, BringsEveryTensorToItsPlace) {
  for (const char* name : {"float", "bf16", "topk(share=0.25, least=1)"}) {
    const auto codec = make(codecs(), name, "codec");
    for (const std::vector<List>& original :
         {std::vector<List>{}, {{}}, {{1, -2, 3}}, {{1, -2, 3}, {}, {4}, {0, 0, 0, 7, 0, 0, 0, 0}, {5, 6, 7}}}) {
      std::vector<List> tensors = original, read = original, sums = original;
      for (List& list : read) list.assign(list.size(), 99);
      for (List& list : sums) list.assign(list.size(), 1);
      std::vector<std::byte> bytes(parcel_bound(*codec, counts_of(tensors)));
      EXPECT_EQ(bytes.size() % 4, 0u);
      const std::size_t length = pack(*codec, spans_of(tensors), bytes);
      ASSERT_LE(length, bytes.size());
      bytes.resize(length);
      unpack(*codec, bytes, spans_of(read));
      unpack_and_add(*codec, bytes, spans_of(sums));
      EXPECT_EQ(read, tensors) << name;
      for (std::size_t t = 0; t < sums.size(); ++t)
        for (std::size_t i = 0; i < sums[t].size(); ++i) EXPECT_EQ(sums[t][i], tensors[t][i] + 1) << name;
    }
  }
}

TEST(Parcel, TakesOnlyWhatTheCodecWrote) {
  const auto codec = make(codecs(), "topk(share=0.25, least=1)", "codec");
  std::vector<List> tensors{List(16, 0.0f), List(16, 1.0f), List(16, 0.0f)};
  std::vector<std::byte> bytes(parcel_bound(*codec, counts_of(tensors)));
  EXPECT_EQ(bytes.size(), 2 * 4 + 3 * 4 * 8u);
  EXPECT_EQ(pack(*codec, spans_of(tensors), bytes), 2 * 4 + 4 * 8u);
}

TEST(Parcel, OneThatIsTooShortIsAMistake) {
  std::vector<List> tensors{{1, 2, 3}, {4, 5}};
  std::vector<std::byte> bytes(parcel_bound(*plain(), counts_of(tensors)));
  pack(*plain(), spans_of(tensors), bytes);
  bytes.resize(8);
  EXPECT_THROW(unpack(*plain(), bytes, spans_of(tensors)), std::logic_error);
}

}  // namespace
}  // namespace isobar::codec
