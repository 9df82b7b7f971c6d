// CRC-32C, the Castagnoli polynomial: the check sum of TFRecords and checkpoints. By the processor's instruction where
// there is one.
#pragma once

#include <cstdint>
#include <span>

namespace isobar::files {

/// The check sum of some bytes.
std::uint32_t crc32c(std::span<const std::uint8_t> bytes);

/// The check sum of bytes of which the first have the check sum `before`, and these follow.
std::uint32_t crc32c(std::uint32_t before, std::span<const std::uint8_t> bytes);

/// The same without the processor's instruction.
std::uint32_t crc32c_by_table(std::span<const std::uint8_t> bytes);

}  // namespace isobar::files
