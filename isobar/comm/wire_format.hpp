// How numbers look while they travel: as they are, or rounded to 16 bits, to nearest and ties to even. Infinities and
// NaN survive; what is too large for float16 (from 65520 on) becomes infinite.
#pragma once

#include <cstddef>
#include <span>

#include "isobar/comm/schedule.hpp"

namespace isobar::comm {

/// Bytes of one number.
constexpr std::size_t bytes_of(Wire wire) { return wire == Wire::float32 ? 4 : 2; }

/// Writes the numbers as they travel, and rounds them in place to what a receiver will read.
void pack(Wire wire, std::span<float> numbers, std::byte* to);

/// Rounds the numbers in place to what can travel.
void round_to(Wire wire, std::span<float> numbers);

/// Reads what has travelled.
void unpack(Wire wire, const std::byte* from, std::span<float> to);

/// Reads what has travelled and adds it.
void unpack_add(Wire wire, const std::byte* from, std::span<float> to);

}  // namespace isobar::comm
