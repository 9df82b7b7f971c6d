// ArchiveWriter: the interface to libarchive for writing tar and zip archives and single streams, compressed or not.
// The file appears under its name in commit(), or not at all; memory use does not grow with the amount written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

struct archive;

namespace isobar::files {

class ArchiveWriter {
 public:
  /// tar and zip hold named files; plain and gzip are one stream of bytes.
  enum class Kind { tar, tar_gzip, zip, plain, gzip };

  ArchiveWriter(std::filesystem::path path, Kind kind);
  /// Removes a file that was not committed.
  ~ArchiveWriter();
  ArchiveWriter(const ArchiveWriter&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Begins the next file of an archive; exactly `bytes` bytes must be written to it.
  void begin(const std::string& name, std::int64_t bytes);
  /// Appends to the current file, or to the stream.
  void write(std::span<const std::uint8_t> bytes);
  /// Closes the file and gives it its name.
  void commit();

 private:
  struct Close {
    void operator()(archive* open) const;
  };
  void check(int result) const;

  std::filesystem::path path_, temporary_;
  std::unique_ptr<archive, Close> archive_;
};

}  // namespace isobar::files
