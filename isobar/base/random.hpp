// Counter-based random numbers (Philox4x32-10, Salmon et al., SC'11): a pure function of key and counter, so that
// a number depends on neither threads, ranks nor earlier draws.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>

namespace isobar {

/// Ten rounds of Philox on a 128-bit counter with a 64-bit key.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

__extension__ using Wide = unsigned __int128;

/// Mixes two numbers into one key (splitmix64 finaliser).
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a + 0x9E3779B97F4A7C15ull * (b + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

/// In (0, 1], with 24 bits.
constexpr float unit_float(std::uint32_t bits) { return (static_cast<float>(bits >> 8) + 1.0f) * 0x1p-24f; }
/// In (0, 1), with 52 bits: with one more, adding 0.5 would round the largest to 1.
constexpr double unit_double(std::uint32_t high, std::uint32_t low) {
  return (static_cast<double>((std::uint64_t{high} << 32 | low) >> 12) + 0.5) * 0x1p-52;
}

/// Random access to the numbers of one key: number i is always the same.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed, std::uint64_t stream = 0) : key_(mix(seed, stream)) {}

  /// A generator for a part of the work: an epoch, a sample, a layer.
  constexpr Random sub(std::uint64_t part) const { return Random(key_, part); }

  constexpr std::array<std::uint32_t, 4> block(std::uint64_t index) const {
    return philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), 0, 0},
                  {static_cast<std::uint32_t>(key_), static_cast<std::uint32_t>(key_ >> 32)});
  }
  constexpr std::uint64_t bits(std::uint64_t index) const {
    const auto b = block(index);
    return std::uint64_t{b[0]} << 32 | b[1];
  }
  /// In (0, 1).
  constexpr double uniform(std::uint64_t index) const {
    const auto b = block(index);
    return unit_double(b[0], b[1]);
  }
  /// A whole number in [0, bound); the bias is below bound / 2^64.
  constexpr std::uint64_t below(std::uint64_t index, std::uint64_t bound) const {
    return static_cast<std::uint64_t>((static_cast<Wide>(bits(index)) * bound) >> 64);
  }
  /// Two independent standard normal numbers (Box-Muller).
  std::array<double, 2> normal_pair(std::uint64_t index) const {
    const auto b = block(index);
    const double radius = std::sqrt(-2.0 * std::log(unit_double(b[0], b[1])));
    const double angle = 2.0 * std::numbers::pi * unit_double(b[2], b[3]);
    return {radius * std::cos(angle), radius * std::sin(angle)};
  }

 private:
  std::uint64_t key_;
};

}  // namespace isobar
