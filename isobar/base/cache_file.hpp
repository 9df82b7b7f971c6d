// Files that remember measurements, in the user's cache folder. A file may be deleted, damaged or replaced at any time:
// readers must cope with an empty result, and a file that cannot be written is silently ignored.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace isobar {

/// The path of the cache file `name`: in $XDG_CACHE_HOME/isobar or ~/.cache/isobar; empty when there is neither.
std::filesystem::path cache_file(const std::string& name);

/// The text of a file; empty when it cannot be read, or is longer than `longest` bytes.
std::string read_cache(const std::filesystem::path& file, std::size_t longest = 1 << 16);

/// Writes the whole file or nothing, and makes its folder. If that fails, nothing is remembered.
void write_cache(const std::filesystem::path& file, const std::string& text) noexcept;

}  // namespace isobar
