// Amounts of memory as people write them in recipes and on the command line.
#pragma once

#include <cstddef>
#include <string_view>

namespace isobar {

/// Reads "4GB", "1.5 GiB", "800MB" or "4096" as bytes; units are decimal (kB, MB, GB, TB) or binary (KiB, MiB, GiB,
/// TiB). Anything else, or less than one byte, is an error that calls the value `what`.
std::size_t read_bytes(std::string_view text, std::string_view what);

}  // namespace isobar
