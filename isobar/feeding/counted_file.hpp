// CountedFile: a file of the shared file system, read once from the beginning to the end in blocks. Every byte is
// counted where the system hands it over, and a file that is not what the list said, now or at its end, is an Error.
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
  /// Opens a file that had this length and was last changed at this time when it was listed.
  CountedFile(std::filesystem::path path, std::int64_t bytes, std::int64_t changed);
  CountedFile(CountedFile&& other) noexcept;
  CountedFile& operator=(CountedFile&& other) noexcept;
  ~CountedFile();

  /// Fills `out` with the next bytes and adds their number to `counter`.
  void read(std::span<std::byte> out, std::int64_t& counter);
  /// States that this is the end, and that the file is still what it was.
  void finish() const;

 private:
  void expect_unchanged(const char* when) const;

  std::filesystem::path path_;
  std::int64_t bytes_ = 0, changed_ = 0;
  int descriptor_ = -1;
};

/// Time of a file's last change in nanoseconds, as lists of files hold it.
std::int64_t change_time(const struct stat& facts);

/// Writes bytes at an offset; the first block makes the file and the folders it lies in.
void write_block(const std::filesystem::path& path, std::int64_t offset, std::span<const std::byte> bytes);

}  // namespace isobar::feeding
