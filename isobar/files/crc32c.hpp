// CRC-32C, the Castagnoli polynomial: the check sum of TFRecords. By the processor's instruction where there is one.
#pragma once

#include <cstdint>
#include <span>

namespace isobar::files {

/// The check sum of some bytes.
std::uint32_t crc32c(std::span<const std::uint8_t> bytes);

/// The same without the processor's instruction.
std::uint32_t crc32c_by_table(std::span<const std::uint8_t> bytes);

}  // namespace isobar::files
