// InputFile: a plain file read at any offset by many threads at once, without a lock and without mapping it: a file
// that shrinks while it is read is an Error, not a signal.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

namespace isobar::files {

class InputFile {
 public:
  /// Opens a regular file; anything else is an Error.
  explicit InputFile(std::filesystem::path path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  const std::filesystem::path& path() const { return path_; }
  /// The size in bytes when the file was opened.
  std::int64_t size() const { return size_; }
  /// Fills `out` with the bytes from `offset` on; an Error if there are fewer.
  void read_at(std::int64_t offset, std::span<std::uint8_t> out) const;
  int descriptor() const { return descriptor_; }
  /// Gives the open descriptor away, to be closed by the caller; the file is not used any more.
  int release() { return std::exchange(descriptor_, -1); }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

}  // namespace isobar::files
