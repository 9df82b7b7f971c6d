#include "isobar/datasets/counts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/datasets/samples.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

std::vector<std::int16_t> some_counts() {
  std::vector<std::int16_t> counts;
  for (int i = 0; i < 1001; ++i) counts.push_back(static_cast<std::int16_t>(i * 31));
  return counts;
}

TEST(Counts, ExpandInPlaceAsApart) {
  for (const CountScaling scaling : {CountScaling::none, CountScaling::log}) {
    const std::vector<std::int16_t> counts = some_counts();
    std::vector<float> apart(counts.size()), in_place(counts.size()), by_floats(counts.begin(), counts.end());
    expand_counts(counts, scaling, apart);
    std::ranges::copy(counts, last_half(in_place).begin());
    expand_counts(last_half(in_place), scaling, in_place);
    apply_scaling(scaling, by_floats);
    EXPECT_EQ(apart, in_place);
    EXPECT_EQ(apart, by_floats);
  }
}

TEST(Counts, LogarithmOfOneMore) {
  const std::vector<std::int16_t> counts{0, 1, 32767, -1};
  std::vector<float> out(4);
  expand_counts(counts, CountScaling::log, out);
  EXPECT_EQ(out[0], 0.0f);
  EXPECT_FLOAT_EQ(out[1], std::log(2.0f));
  EXPECT_FLOAT_EQ(out[2], std::log(32768.0f));
  EXPECT_EQ(out[3], -std::numeric_limits<float>::infinity());
}

TEST(Counts, PackOnlyWhatFits) {
  std::vector<std::int16_t> packed(3);
  pack_counts(std::vector<float>{-32768, 0, 32767}, packed);
  EXPECT_EQ(packed, (std::vector<std::int16_t>{-32768, 0, 32767}));
  for (const float bad : {32768.0f, -32769.0f, 0.5f, std::nanf("")}) {
    std::vector<std::int16_t> one(1);
    EXPECT_HAS(error_of([&] { pack_counts(std::vector<float>{bad}, one); }), "not a whole number");
  }
}

}  // namespace
}  // namespace isobar::datasets
