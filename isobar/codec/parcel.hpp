// Parcel: tensors that are encoded one by one and travel as one message. A codec may write fewer bytes than it could:
// so the lengths of all but the last tensor come first.
#pragma once

#include <span>

#include "isobar/codec/codec.hpp"

namespace isobar::codec {

/// The bytes that such tensors take at most, a multiple of 4; `tensors` are their counts of numbers.
std::size_t parcel_bound(const Codec& codec, std::span<const std::size_t> tensors);

/// Encodes the tensors and returns the bytes written; `to` has room for the bound and begins at a multiple of 4.
std::size_t pack(const Codec& codec, std::span<const std::span<float>> tensors, std::span<std::byte> to);

/// Replaces the tensors by what was packed.
void unpack(const Codec& codec, std::span<const std::byte> from, std::span<const std::span<float>> tensors);
/// Adds what was packed to them.
void unpack_and_add(const Codec& codec, std::span<const std::byte> from, std::span<const std::span<float>> tensors);

}  // namespace isobar::codec
