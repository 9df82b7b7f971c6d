// CRC-32C, the Castagnoli polynomial: the checksum of TFRecords and checkpoints. Uses the processor's instruction where
// available.
#pragma once

#include <cstdint>
#include <span>

namespace isobar::files {

/// The checksum of some bytes.
std::uint32_t crc32c(std::span<const std::uint8_t> bytes);

/// Continues a checksum: `before` is that of the bytes that precede `bytes`.
std::uint32_t crc32c(std::uint32_t before, std::span<const std::uint8_t> bytes);

/// The same without the processor's instruction.
std::uint32_t crc32c_by_table(std::span<const std::uint8_t> bytes);

}  // namespace isobar::files
