// Hold: the type in which samples are kept and sent between ranks. With half the bytes, twice as many samples fit in
// memory; a network does not see the difference in inputs that were measured to three digits.
#pragma once

#include <cstddef>
#include <span>

namespace isobar::feeding {

enum class Hold { float32, float16, bfloat16 };

/// Bytes of one number.
std::size_t bytes_of(Hold hold);

/// Rounds to nearest into `out`, which is aligned to 4 bytes; a number too large for float16 is an Error that names it.
void narrow(Hold hold, std::span<const float> numbers, std::byte* out);

/// Restores the numbers that narrow() wrote.
void widen(Hold hold, const std::byte* held, std::span<float> out);

}  // namespace isobar::feeding
