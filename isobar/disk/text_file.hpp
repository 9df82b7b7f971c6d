// Whole text files, where a full disk is an Error that names the file, not a silent loss.
#pragma once

#include <filesystem>
#include <string_view>

namespace isobar::disk {

/// Writes a whole file at once; failure is a disk::DiskError.
void write_text(const std::filesystem::path& path, std::string_view text);

}  // namespace isobar::disk
