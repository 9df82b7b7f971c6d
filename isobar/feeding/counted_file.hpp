// CountedFile: a file on the shared file system, read once from beginning to end in blocks. Every byte is counted where
// the system returns it; a file that differs from the list, when opened or at its end, is an Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <sys/stat.h>

namespace isobar::feeding {

class CountedFile {
 public:
  CountedFile() = default;
  /// Opens a file that had this length and this modification time when it was listed.
  CountedFile(std::filesystem::path path, std::int64_t bytes, std::int64_t changed);
  CountedFile(CountedFile&& other) noexcept;
  CountedFile& operator=(CountedFile&& other) noexcept;
  ~CountedFile();

  /// Fills `out` with the next bytes and adds their number to `counter`.
  void read(std::span<std::byte> out, std::int64_t& counter);
  /// Checks that this is the end, and that the file has not changed.
  void finish() const;

 private:
  void expect_unchanged(const char* when) const;

  std::filesystem::path path_;
  std::int64_t bytes_ = 0, changed_ = 0;
  int descriptor_ = -1;
};

/// A file's modification time in nanoseconds, as lists of files hold it.
std::int64_t change_time(const struct stat& facts);

/// Writes bytes at an offset; the first block creates the file and its folders.
void write_block(const std::filesystem::path& path, std::int64_t offset, std::span<const std::byte> bytes);

}  // namespace isobar::feeding
