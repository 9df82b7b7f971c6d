// Amounts of memory as people write them in recipes and on the command line.
#pragma once

#include <cstddef>
#include <string_view>

namespace isobar {

/// "4GB", "1.5 GiB", "800MB", "4096": bytes, decimal (kB, MB, GB, TB) or binary (KiB, MiB, GiB, TiB) units; `what`
/// names the value in the error for anything else, or for less than one byte.
std::size_t read_bytes(std::string_view text, std::string_view what);

}  // namespace isobar
