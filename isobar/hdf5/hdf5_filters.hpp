// The filters of HDF5 chunks, undone without the library, so by many threads at once: deflate (gzip), LZF, the byte
// shuffle, and the Fletcher-32 checksum, which is verified. Pure functions of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace isobar::hdf5 {

/// One filter that was applied to a chunk when it was written.
struct Hdf5Filter {
  enum class Kind { deflate, lzf, shuffle, fletcher32 } kind;
  std::uint32_t element = 1;  ///< shuffle: bytes of a number
  bool operator==(const Hdf5Filter&) const = default;
};

/// Whether `stored` bytes can become `expanded` bytes by undoing these filters; checked before memory is allocated.
bool can_expand(std::span<const Hdf5Filter> filters, std::uint32_t skipped, std::size_t stored, std::size_t expanded);

/// Undoes the filters, the last one first, except those whose bit is set in `skipped`; `to` has the size of the result.
/// Returns what is wrong with the bytes, or "".
std::string undo_filters(std::span<const Hdf5Filter> filters, std::uint32_t skipped, std::span<const std::byte> from,
                         std::span<std::byte> to);

/// The name of a registered filter by its number: "gzip", "bitshuffle"; "" for an unknown one.
std::string_view hdf5_filter_name(int number);

}  // namespace isobar::hdf5
