// DurableFile: a file written at any offset under a temporary name. commit() brings it to disk and then gives it its
// name, so that at any moment, even after a power failure, this name is a complete file or the previous one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace isobar::disk {

class DurableFile {
 public:
  /// Begins a file of `bytes` bytes, with its space reserved at once if the file system supports that.
  DurableFile(std::filesystem::path path, std::int64_t bytes);
  /// Removes a file that was not committed.
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;

  /// A full disk is an Error.
  void write_at(std::int64_t offset, std::span<const std::uint8_t> bytes);
  void commit();

 private:
  [[noreturn]] void fail_write() const;

  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
};

/// Waits until a file, or the names in a folder, are on disk.
void sync_to_disk(const std::filesystem::path& path);

}  // namespace isobar::disk
