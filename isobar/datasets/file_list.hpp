// The files a data set reads, as the argument `path` names them.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "isobar/datasets/dataset.hpp"

namespace isobar::datasets {

/// The files `path` names, sorted: a file; the files below a folder with one of the `extensions` (those of compressions
/// are ignored), or all if none has; the files in a folder that match a pattern: 'train/*.npy'. No file is an Error.
std::vector<std::filesystem::path> list_files(const std::filesystem::path& path,
                                              std::initializer_list<std::string_view> extensions);

/// Whether a file has one of these extensions (".npy"), in upper or lower case; that of a compression is ignored.
bool named_so(const std::filesystem::path& file, std::initializer_list<std::string_view> extensions);

/// The file that holds a sample: firsts[f] is the number of the first sample of file f, the last entry that of all.
std::size_t file_of(std::span<const std::int64_t> firsts, std::int64_t sample);

/// The files of the first `size` samples, as Dataset::spans() lists them.
std::vector<FileSpan> spans_of(std::span<const std::filesystem::path> files, std::span<const std::int64_t> firsts,
                               std::int64_t size);

}  // namespace isobar::datasets
