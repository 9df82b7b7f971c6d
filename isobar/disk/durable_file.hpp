// DurableFile: a file written at any place under a temporary name. commit() brings it to disk and then gives it its
// name, so that under that name there is at any moment, a power failure included, a whole file or the one before.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace isobar::disk {

class DurableFile {
 public:
  /// Begins a file of so many bytes, for which room is taken at once where the file system can.
  DurableFile(std::filesystem::path path, std::int64_t bytes);
  /// Removes what was not committed.
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
