// Philox for sixteen counters at once, in vectors: the same bits as philox() in random.hpp, several times as fast.
#pragma once

#include <cstdint>

namespace isobar {

/// Random numbers that one call compares: sixteen blocks of four.
inline constexpr std::int64_t philox_wide = 64;

/// For the 16 blocks i: result[4 i + k] = 1 if number k of block first + i of the generator with this key is at least
/// `limit`, else 0.
void wide_at_least(std::uint64_t key, std::uint64_t first, std::uint32_t limit, std::uint8_t* result);

}  // namespace isobar
