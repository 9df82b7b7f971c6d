// Files that remember what was measured, in the user's cache folder. They may be deleted, damaged or of another program
// at any time: whoever reads one must be content with nothing, and nothing is said about one that cannot be written.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace isobar {

/// Where a file of this name is remembered: $XDG_CACHE_HOME/isobar, or ~/.cache/isobar; empty when there is neither.
std::filesystem::path cache_file(const std::string& name);

/// The text of a file; empty when it cannot be read, or is longer than `longest` bytes.
std::string read_cache(const std::filesystem::path& file, std::size_t longest = 1 << 16);

/// Writes the file whole or not at all; makes its folder. Where that cannot be done nothing is remembered.
void write_cache(const std::filesystem::path& file, const std::string& text) noexcept;

}  // namespace isobar
