// The border to libarchive: the files inside a tar or zip archive, or the content of a file that is none, each
// compressed (gzip, bzip2, xz, zstd) or not, as found by looking into it. What cannot be read is an Error naming the
// file.
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

/// An archive read from its beginning to its end, file by file.
class ArchiveReader {
 public:
  explicit ArchiveReader(const std::filesystem::path& path);

  /// Goes to the next regular file; false at the end.
  bool next();
  /// The path of the present file inside the archive, without a leading "./"; empty for a file that is no archive.
  const std::string& name() const { return name_; }
  /// Appends the content of the present file; more than `max_bytes` in `to` are refused.
  void append(Bytes& to, std::int64_t max_bytes);
  /// The first bytes of the present file, at most `count`; what follows is passed over.
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

/// The whole content of a file that is no archive, decompressed.
Bytes read_content(const std::filesystem::path& path, std::int64_t max_bytes);

/// The first bytes of a file, at most `count`, decompressed when it is compressed; an archive is not looked into. What
/// cannot be decompressed is returned as it lies in the file.
Bytes first_content(const std::filesystem::path& path, std::size_t count);

/// The argument max_gigabytes=4: how much a data set may hold in memory, returned in bytes.
std::int64_t read_memory_limit(Args& args);

}  // namespace isobar::files
