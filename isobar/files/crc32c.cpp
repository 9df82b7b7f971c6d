#include "isobar/files/crc32c.hpp"

#include <array>
#include <cstring>

#ifdef __SSE4_2__
#include <nmmintrin.h>
#endif

namespace isobar::files {
namespace {

constexpr std::uint32_t polynomial = 0x82F63B78u;  // bits reversed

// tables[k][b]: what byte b contributes if k more bytes follow it.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1u ? polynomial : 0u);
    tables[0][b] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t b = 0; b < 256; ++b) tables[k][b] = tables[k - 1][b] >> 8 ^ tables[0][tables[k - 1][b] & 0xFFu];
  return tables;
}

constexpr Tables tables = make_tables();

std::uint32_t by_table(std::uint32_t crc, const std::uint8_t* at, std::size_t count) {
  for (; count >= 8; at += 8, count -= 8) {
    const std::uint32_t low = crc ^ (at[0] | at[1] << 8 | at[2] << 16 | static_cast<std::uint32_t>(at[3]) << 24);
    crc = tables[7][low & 0xFFu] ^ tables[6][low >> 8 & 0xFFu] ^ tables[5][low >> 16 & 0xFFu] ^ tables[4][low >> 24] ^
          tables[3][at[4]] ^ tables[2][at[5]] ^ tables[1][at[6]] ^ tables[0][at[7]];
  }
  for (; count > 0; ++at, --count) crc = crc >> 8 ^ tables[0][(crc ^ *at) & 0xFFu];
  return crc;
}

#ifdef __SSE4_2__

// A bit matrix that advances a checksum over `bytes` zeros, as four tables, one per byte of the checksum.
using Skip = std::array<std::array<std::uint32_t, 256>, 4>;

Skip make_skip(std::size_t bytes) {
  Skip skip{};
  for (std::size_t k = 0; k < 4; ++k)
    for (std::uint32_t b = 0; b < 256; ++b) {
      std::uint32_t crc = b << (8 * k);
      for (std::size_t i = 0; i < bytes; ++i) crc = crc >> 8 ^ tables[0][crc & 0xFFu];
      skip[k][b] = crc;
    }
  return skip;
}

// The instruction takes three cycles and one can start in each cycle: three parts of the bytes are summed side by side.
constexpr std::size_t part = 1024;

std::uint32_t by_instruction(std::uint32_t start, const std::uint8_t* at, std::size_t count) {
  static const Skip skip = make_skip(part);
  const auto shift = [](std::uint32_t crc) {
    return skip[0][crc & 0xFFu] ^ skip[1][crc >> 8 & 0xFFu] ^ skip[2][crc >> 16 & 0xFFu] ^ skip[3][crc >> 24];
  };
  const auto word = [](const std::uint8_t* from) {
    std::uint64_t value;
    std::memcpy(&value, from, 8);
    return value;
  };
  std::uint64_t crc = start;
  for (; count >= 3 * part; at += 3 * part, count -= 3 * part) {
    std::uint64_t second = 0, third = 0;
    for (std::size_t i = 0; i < part; i += 8) {
      crc = _mm_crc32_u64(crc, word(at + i));
      second = _mm_crc32_u64(second, word(at + part + i));
      third = _mm_crc32_u64(third, word(at + 2 * part + i));
    }
    crc = shift(crc) ^ second;
    crc = shift(crc) ^ third;
  }
  for (; count >= 8; at += 8, count -= 8) crc = _mm_crc32_u64(crc, word(at));
  return by_table(crc, at, count);
}

#endif

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::uint8_t> bytes) {
  return ~by_table(~0u, bytes.data(), bytes.size());
}

std::uint32_t crc32c(std::span<const std::uint8_t> bytes) { return crc32c(0, bytes); }

std::uint32_t crc32c(std::uint32_t before, std::span<const std::uint8_t> bytes) {
#ifdef __SSE4_2__
  return ~by_instruction(~before, bytes.data(), bytes.size());
#else
  return ~by_table(~before, bytes.data(), bytes.size());
#endif
}

}  // namespace isobar::files
