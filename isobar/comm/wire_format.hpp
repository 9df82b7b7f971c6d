// The format in which numbers travel: unchanged, or rounded to 16 bits, to nearest and ties to even. Infinities and NaN
// are preserved; numbers too large for float16 (65520 or more) become infinite.
#pragma once

#include <cstddef>
#include <span>

#include "isobar/comm/schedule.hpp"

namespace isobar::comm {

/// Bytes of one number.
constexpr std::size_t bytes_of(Wire wire) { return wire == Wire::float32 ? 4 : 2; }

/// Writes the numbers in wire format, and rounds them in place to what a receiver will read.
void pack(Wire wire, std::span<float> numbers, std::byte* to);

/// Rounds the numbers in place to what the wire can carry.
void round_to(Wire wire, std::span<float> numbers);

/// Reads numbers in wire format.
void unpack(Wire wire, const std::byte* from, std::span<float> to);

/// Reads numbers in wire format and adds them.
void unpack_add(Wire wire, const std::byte* from, std::span<float> to);

}  // namespace isobar::comm
