#include "isobar/base/wide_philox.hpp"

#include <immintrin.h>

#include "isobar/base/instructions.hpp"

namespace isobar {
namespace v3 {
namespace {

// Four counters, each word in the lower half of 64 bits; the upper half is ignored.
struct Counters {
  __m256i word[4];
};

inline void round(Counters& c, __m256i key0, __m256i key1) {
  const __m256i a = _mm256_mul_epu32(c.word[0], _mm256_set1_epi64x(0xD2511F53));
  const __m256i b = _mm256_mul_epu32(c.word[2], _mm256_set1_epi64x(0xCD9E8D57));
  c.word[0] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(b, 32), c.word[1]), key0);
  c.word[1] = b;
  c.word[2] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(a, 32), c.word[3]), key1);
  c.word[3] = a;
}

// Sets all 16 bits where a number is at least the limit, that is, where the maximum of both is the number itself. Words
// 0 to 3 of every counter are in order.
inline __m256i compare(const Counters& c, __m256i limit) {
  const auto at_least = [=](__m256i numbers) { return _mm256_cmpeq_epi32(_mm256_max_epu32(numbers, limit), numbers); };
  const __m256i low = at_least(_mm256_blend_epi32(c.word[0], _mm256_slli_epi64(c.word[1], 32), 0xAA));
  const __m256i high = at_least(_mm256_blend_epi32(c.word[2], _mm256_slli_epi64(c.word[3], 32), 0xAA));
  return _mm256_packs_epi32(_mm256_unpacklo_epi64(low, high), _mm256_unpackhi_epi64(low, high));
}

// Eight blocks.
void at_least(std::uint64_t key, std::uint64_t first, std::uint32_t limit, std::uint8_t* result) {
  auto key0 = static_cast<std::uint32_t>(key), key1 = static_cast<std::uint32_t>(key >> 32);
  const __m256i left = _mm256_add_epi64(_mm256_set1_epi64x(first), _mm256_set_epi64x(3, 2, 1, 0));
  const __m256i right = _mm256_add_epi64(left, _mm256_set1_epi64x(4)), zero = _mm256_setzero_si256();
  Counters a{{left, _mm256_srli_epi64(left, 32), zero, zero}}, b{{right, _mm256_srli_epi64(right, 32), zero, zero}};
  for (int i = 0; i < 10; ++i) {
    const __m256i wide0 = _mm256_set1_epi64x(key0), wide1 = _mm256_set1_epi64x(key1);
    round(a, wide0, wide1);
    round(b, wide0, wide1);
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  const __m256i limits = _mm256_set1_epi32(limit);
  const __m256i halves = _mm256_packs_epi16(compare(a, limits), compare(b, limits));  // blocks 0 1 4 5, then 2 3 6 7
  const __m256i in_order = _mm256_permute4x64_epi64(halves, 0b11'01'10'00);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(result), _mm256_and_si256(in_order, _mm256_set1_epi8(1)));
}

}  // namespace
}  // namespace v3

namespace v4 {
namespace {

constexpr __mmask8 all = 0xFF;  // GCC 12 warns about its own implementation of the unmasked instructions

// Eight counters, each word in the lower half of 64 bits; the upper half is ignored.
struct Counters {
  __m512i word[4];
};

__attribute__((target("avx512f,avx512bw,avx512vl,bmi2"), always_inline)) inline void round(Counters& c, __m512i key0,
                                                                                           __m512i key1) {
  const __m512i a = _mm512_maskz_mul_epu32(all, c.word[0], _mm512_set1_epi64(0xD2511F53));
  const __m512i b = _mm512_maskz_mul_epu32(all, c.word[2], _mm512_set1_epi64(0xCD9E8D57));
  constexpr int exclusive_or = 0x96;
  c.word[0] = _mm512_ternarylogic_epi64(_mm512_maskz_srli_epi64(all, b, 32), c.word[1], key0, exclusive_or);
  c.word[1] = b;
  c.word[2] = _mm512_ternarylogic_epi64(_mm512_maskz_srli_epi64(all, a, 32), c.word[3], key1, exclusive_or);
  c.word[3] = a;
}

// Words 0 and 1 of every counter are compared side by side, then 2 and 3; the resulting bits are then interleaved.
__attribute__((target("avx512f,avx512bw,avx512vl,bmi2"), always_inline)) inline void compare(const Counters& c,
                                                                                             __m512i limit,
                                                                                             std::uint8_t* result) {
  constexpr __mmask16 upper = 0xAAAA;
  const __m512i low = _mm512_mask_blend_epi32(upper, c.word[0], _mm512_maskz_slli_epi64(all, c.word[1], 32));
  const __m512i high = _mm512_mask_blend_epi32(upper, c.word[2], _mm512_maskz_slli_epi64(all, c.word[3], 32));
  const std::uint32_t bits = _pdep_u32(_mm512_cmpge_epu32_mask(low, limit), 0x33333333u) |
                             _pdep_u32(_mm512_cmpge_epu32_mask(high, limit), 0xCCCCCCCCu);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(result), _mm256_maskz_set1_epi8(bits, 1));
}

// Sixteen blocks.
__attribute__((target("avx512f,avx512bw,avx512vl,bmi2"))) void at_least(std::uint64_t key, std::uint64_t first,
                                                                        std::uint32_t limit, std::uint8_t* result) {
  auto key0 = static_cast<std::uint32_t>(key), key1 = static_cast<std::uint32_t>(key >> 32);
  const __m512i zero = _mm512_setzero_si512(), steps = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i left = _mm512_add_epi64(_mm512_set1_epi64(first), steps);
  const __m512i right = _mm512_add_epi64(left, _mm512_set1_epi64(8));
  Counters a{{left, _mm512_maskz_srli_epi64(all, left, 32), zero, zero}},
      b{{right, _mm512_maskz_srli_epi64(all, right, 32), zero, zero}};
  for (int i = 0; i < 10; ++i) {
    const __m512i wide0 = _mm512_set1_epi64(key0), wide1 = _mm512_set1_epi64(key1);
    round(a, wide0, wide1);
    round(b, wide0, wide1);
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  const __m512i limits = _mm512_set1_epi32(limit);
  compare(a, limits, result);
  compare(b, limits, result + 32);
}

}  // namespace
}  // namespace v4

void wide_at_least(std::uint64_t key, std::uint64_t first, std::uint32_t limit, std::uint8_t* result) {
  if (instructions() == Instructions::v4) return v4::at_least(key, first, limit, result);
  v3::at_least(key, first, limit, result);
  v3::at_least(key, first + 8, limit, result + 32);
}

}  // namespace isobar
