// The files a data set reads, as the argument `path` names them.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace isobar::datasets {

/// The files `path` names, sorted: a file; the files below a folder with one of the `extensions` (those of compressions
/// are ignored), or all if none has; the files in a folder that match a pattern: 'train/*.npy'. No file is an Error.
std::vector<std::filesystem::path> list_files(const std::filesystem::path& path,
                                              std::initializer_list<std::string_view> extensions);

/// Whether a file has one of these extensions (".npy"), in upper or lower case; that of a compression is ignored.
bool named_so(const std::filesystem::path& file, std::initializer_list<std::string_view> extensions);

}  // namespace isobar::datasets
