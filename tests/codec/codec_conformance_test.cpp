// What every codec must do, whatever it keeps of the numbers; known answers of the members.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "isobar/codec/codec.hpp"

namespace isobar::codec {
namespace {

class EveryCodec : public testing::TestWithParam<std::string> {
 protected:
  const std::unique_ptr<Codec> codec_ = make(codecs(), Spec(GetParam()), "codec");
};

std::vector<float> waves(std::size_t count) {  // counts that are not a multiple of a vector's
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = std::sin(static_cast<float>(i)) * 100;
  return numbers;
}

TEST_P(EveryCodec, TheSendersCopyBecomesWhatTheReceiverReads) {
  for (const std::size_t count : {0, 1, 7, 1237, 10000}) {
    std::vector<float> numbers = waves(count), rounded = numbers, read(count), sum(count, 0.5f);
    std::vector<std::byte> bytes(codec_->bound(count));
    const std::size_t written = codec_->encode(numbers, bytes);
    ASSERT_LE(written, bytes.size());
    ASSERT_TRUE(written == bytes.size() || codec_->carriage() != Carriage::added);
    bytes.resize(written);
    codec_->decode(bytes, read);
    codec_->add(bytes, sum);
    round_as(*codec_, rounded);
    EXPECT_EQ(numbers, read);
    EXPECT_EQ(rounded, read);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(sum[i], 0.5f + read[i]);
  }
}

TEST_P(EveryCodec, WhatWasReadTravelsAgainUnchanged) {
  std::vector<float> numbers = waves(301);
  round_as(*codec_, numbers);
  std::vector<float> again = numbers;
  round_as(*codec_, again);
  EXPECT_EQ(again, numbers);
}

TEST_P(EveryCodec, ZerosStayZeros) {
  std::vector<float> numbers(100);
  round_as(*codec_, numbers);
  EXPECT_EQ(numbers, std::vector<float>(100));
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryCodec, testing::ValuesIn(names(codecs())),
                         [](const auto& test) { return test.param; });

float rounded(const char* codec, float number) {
  round_as(*make(codecs(), codec, "codec"), {&number, 1});
  return number;
}

TEST(KnownAnswer, float_codec) {
  const auto codec = make(codecs(), "float", "codec");
  EXPECT_TRUE(codec->is_plain());
  EXPECT_TRUE(plain()->is_plain());
  std::vector<float> numbers{1, -2.5f, std::numeric_limits<float>::denorm_min()};
  std::vector<std::byte> bytes(codec->bound(3));
  EXPECT_EQ(codec->encode(numbers, bytes), 12u);
  EXPECT_EQ(numbers, (std::vector<float>{1, -2.5f, std::numeric_limits<float>::denorm_min()}));
  const std::uint32_t bits[] = {0x3f80'0000, 0xc020'0000, 1};
  EXPECT_TRUE(std::ranges::equal(bytes, std::as_bytes(std::span(bits))));
}

TEST(KnownAnswer, bf16) {
  EXPECT_EQ(rounded("bf16", 1 + 0x1p-8f), 1.0f) << "half way: to even";
  EXPECT_EQ(rounded("bf16", 1 + 0x3p-8f), 1 + 0x1p-6f) << "half way: to even";
  EXPECT_EQ(rounded("bf16", 1e38f), 0x1.2cp126f);
}

TEST(KnownAnswer, fp16) {
  EXPECT_EQ(rounded("fp16", 1 + 0x1p-11f), 1.0f) << "half way: to even";
  EXPECT_EQ(rounded("fp16", 65519), 65504.0f);
  EXPECT_EQ(rounded("fp16", 65520), std::numeric_limits<float>::infinity());
  EXPECT_EQ(rounded("fp16", 0x1p-24f), 0x1p-24f) << "the smallest";
}

std::vector<float> sent_by(const char* codec, std::vector<float> numbers) {
  round_as(*make(codecs(), codec, "codec"), numbers);
  return numbers;
}

TEST(KnownAnswer, topk) {
  const float nan = std::nanf("");
  using List = std::vector<float>;
  EXPECT_EQ(sent_by("topk(share=0.2, least=1)", {1, -5, 2, 3, 0}), (List{0, -5, 0, 0, 0}));
  EXPECT_EQ(sent_by("topk(share=0.25, least=1)", {1, -5, 2, 3, 0, 5, -0.5f, 4}), (List{0, -5, 0, 0, 0, 5, 0, 0}));
  EXPECT_EQ(sent_by("topk(share=0.25, least=1)", {7, 7, -7, 7, 7, 7, 7, 7}), (List{7, 7, 0, 0, 0, 0, 0, 0}))
      << "of equal ones the first";
  EXPECT_EQ(sent_by("topk(share=0.01, least=1)", {1, 2, 3}), (List{0, 0, 3})) << "at least one";
  EXPECT_EQ(sent_by("topk(share=0.01, least=4)", {1, 2, 3}), (List{1, 2, 3})) << "short ones travel whole";
  EXPECT_EQ(sent_by("topk(share=0.5, least=1)", {1, 2, 3, 4}), (List{1, 2, 3, 4})) << "pairs would take more bytes";
  EXPECT_TRUE(std::isnan(sent_by("topk(share=0.1, least=1)", {1, INFINITY, nan, 3})[2])) << "reaches every rank";
  const auto codec = make(codecs(), "topk(share=0.01)", "codec");
  EXPECT_EQ(codec->bound(100'000), 8000u);
  EXPECT_EQ(codec->bound(1000), 4000u);
  std::vector<float> numbers(10'000);
  std::vector<std::byte> bytes(codec->bound(numbers.size()));
  numbers[17] = numbers[9000] = -1;
  EXPECT_EQ(bytes.size(), 800u);
  EXPECT_EQ(codec->encode(numbers, bytes), 16u) << "zeros do not travel";
}

// Against sorting, with many equal magnitudes and all kinds of exponents.
TEST(KnownAnswer, topk_keeps_what_sorting_would) {
  std::vector<float> numbers;
  for (std::uint32_t i = 0; i < 5000; ++i)
    numbers.push_back(std::ldexp(static_cast<float>((i * 2654435761u >> 20) % 97) - 48, static_cast<int>(i % 41) - 60));
  for (const std::size_t kept : {1, 2, 50, 499, 2000}) {
    std::vector<std::size_t> order(numbers.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return std::abs(numbers[i]); });
    std::vector<float> expected(numbers.size());
    for (std::size_t i = 0; i < kept; ++i) expected[order[i]] = numbers[order[i]];
    const std::string spec = fmt::format("topk(share={}, least=1)", static_cast<double>(kept) / 5000);
    EXPECT_EQ(sent_by(spec.c_str(), numbers), expected) << spec;
  }
}

}  // namespace
}  // namespace isobar::codec
