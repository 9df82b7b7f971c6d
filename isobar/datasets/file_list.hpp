// The files a data set reads, as the argument `path` names them.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace isobar::datasets {

/// The files `path` names, sorted: a file; the files below a folder that have one of the `extensions`, a compression's
/// left aside, or all of them when none has; those of a folder that match a pattern: 'train/*.npy'. None is an Error.
std::vector<std::filesystem::path> list_files(const std::filesystem::path& path,
                                              std::initializer_list<std::string_view> extensions);

/// Whether a file is named so, as ".npy", in capitals or not, the ending of a compression left aside.
bool named_so(const std::filesystem::path& file, std::initializer_list<std::string_view> extensions);

}  // namespace isobar::datasets
