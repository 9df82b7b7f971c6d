// The interface to libarchive: reads the files inside a tar or zip archive, or the content of a plain file. Both may be
// compressed (gzip, bzip2, xz, zstd); the content of the file decides, not its name. An unreadable file is an Error
// that names it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "isobar/base/spec.hpp"

struct archive;

namespace isobar::files {

using Bytes = std::vector<std::uint8_t>;

/// Reads an archive from beginning to end, file by file.
class ArchiveReader {
 public:
  explicit ArchiveReader(const std::filesystem::path& path);

  /// Moves to the next regular file; false at the end.
  bool next();
  /// The path of the current file inside the archive, without a leading "./"; empty if the file is not an archive.
  const std::string& name() const { return name_; }
  /// Appends the content of the current file to `to`; fails if `to` would exceed `max_bytes`.
  void append(Bytes& to, std::int64_t max_bytes);
  /// The first bytes of the current file, at most `count`; the rest is skipped.
  Bytes first(std::size_t count);

 private:
  struct Close {
    void operator()(archive* open) const;
  };
  [[noreturn]] void fail_call() const;

  std::filesystem::path path_;
  std::unique_ptr<archive, Close> archive_;
  std::string name_;
  Bytes piece_;
};

/// The whole content of a file that is not an archive, decompressed.
Bytes read_content(const std::filesystem::path& path, std::int64_t max_bytes);

/// The first bytes of a file, at most `count`, decompressed if it is compressed; archives are not opened. Content that
/// cannot be decompressed is returned as stored.
Bytes first_content(const std::filesystem::path& path, std::size_t count);

/// Reads the argument max_gigabytes=4, how much a data set may hold in memory, and returns it in bytes.
std::int64_t read_memory_limit(Args& args);

}  // namespace isobar::files
